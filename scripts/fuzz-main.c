/* The entry point of a fuzz target. SwiftPM names an executable's entry point after its target (ENTRY, set by
   scripts/fuzz.sh) and aliases `main` to it, which leaves libFuzzer's own `main` unused; this calls what that calls.
   Weak: a target may bring its own.
   https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test_one)(const uint8_t *bytes, size_t count));

__attribute__((weak)) int ENTRY(int argc, char **argv)
{
    return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput);
}
