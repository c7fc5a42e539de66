"""Self-signed certificates for 127.0.0.1 and localhost."""

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key as files."""

    cert: Path
    key: Path
    serial: int

    def trusting_context(self) -> ssl.SSLContext:
        """A client context that trusts this certificate only."""
        return ssl.create_default_context(cafile=str(self.cert))


def write_certificate(
        directory: Path, name: str = "server", starts: datetime.timedelta = datetime.timedelta(minutes=-5),
        ends: datetime.timedelta = datetime.timedelta(days=30)) -> Certificate:
    """Makes a P-256 certificate, valid for 30 days from now; an existing one of that name is replaced in place."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    serial = x509.random_serial_number()
    addresses = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject).issuer_name(subject).public_key(key.public_key()).serial_number(serial)
        .not_valid_before(now + starts).not_valid_after(now + ends)
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256()))
    cert_path, key_path = directory / f"{name}.crt", directory / f"{name}.key"
    cert_path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_path.write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    key_path.chmod(0o600)
    return Certificate(cert_path, key_path, serial)
