// Pub/sub over WebSockets with ws and Redis, as its author would deploy it.
//
// usage: ws.js REDIS-URL PROCESSES CERTIFICATE KEY
// GET /sub/TOPIC subscribes, POST /pub/TOPIC publishes its body. Prints "VERSION PORT PIDS" when all processes serve.
'use strict';

const cluster = require('node:cluster');
const fs = require('node:fs');
const https = require('node:https');
const redis = require('redis');
const WebSocket = require('ws');

const [url, processes, certificate, key] = process.argv.slice(2);
const pingMs = 30_000;

if (cluster.isPrimary && Number(processes) > 1) {
  const workers = Array.from({ length: Number(processes) }, () => cluster.fork());
  const pids = [process.pid, ...workers.map((worker) => worker.process.pid)];
  let serving = 0;
  cluster.on('message', (_, port) => {
    serving += 1;
    if (serving === workers.length) announce(port, pids);
  });
  cluster.on('exit', () => process.exit(1));
} else {
  serve().catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

function announce(port, pids) {
  const version = `node-${process.versions.node}+ws-${require('ws/package.json').version}`;
  console.log(`${version} ${port} ${pids.join(',')}`);
}

async function serve() {
  const publisher = redis.createClient({ url });
  const subscriber = redis.createClient({ url });
  for (const client of [publisher, subscriber]) client.on('error', (error) => console.error(error));
  await Promise.all([publisher.connect(), subscriber.connect()]);

  const topics = new Map();
  const server = https.createServer({
    cert: fs.readFileSync(certificate), key: fs.readFileSync(key), minVersion: 'TLSv1.3', noDelay: true,
    keepAliveTimeout: 3_600_000, requestTimeout: 0, maxRequestsPerSocket: 0,
  });
  server.on('request', (request, response) => publish(publisher, request, response));

  const sockets = new WebSocket.Server({ noServer: true, perMessageDeflate: false, clientTracking: true });
  server.on('upgrade', async (request, socket, head) => {
    const topic = topicOf(request.url, '/sub/');
    if (topic === null) {
      socket.destroy();
      return;
    }
    const members = topics.get(topic) ?? firstMember(topic, topics, subscriber);
    await members.subscribed;
    sockets.handleUpgrade(request, socket, head, (member) => join(member, topic, members, topics, subscriber));
  });
  setInterval(() => findDead(sockets), pingMs).unref();
  server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
    if (cluster.isWorker) process.send(server.address().port);
    else announce(server.address().port, [process.pid]);
  });
}

function topicOf(path, prefix) {
  return path.startsWith(prefix) && path.length > prefix.length ? path.slice(prefix.length) : null;
}

function publish(publisher, request, response) {
  const topic = topicOf(request.url, '/pub/');
  if (topic === null || request.method !== 'POST') {
    response.writeHead(404).end();
    return;
  }
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    publisher.publish(topic, pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)).then(
      () => response.writeHead(204).end(),
      () => response.writeHead(503).end());
  });
}

// The members of a topic that had none here; Redis sends its messages from now on.
function firstMember(topic, topics, subscriber) {
  const members = { sockets: new Set(), subscribed: null };
  topics.set(topic, members);
  members.subscribed = subscriber.subscribe(topic, (message) => broadcast(members.sockets, message), true);
  return members;
}

function join(member, topic, members, topics, subscriber) {
  members.sockets.add(member);
  member.isAlive = true;
  member.on('pong', () => { member.isAlive = true; });
  member.on('error', () => member.terminate());
  member.on('close', () => {
    members.sockets.delete(member);
    if (members.sockets.size > 0 || topics.get(topic) !== members) return;
    topics.delete(topic);
    subscriber.unsubscribe(topic);
  });
}

// Framed once: ws frames each send() anew (https://github.com/websockets/ws/issues/617). One buffer is also one write
// into TLS, where head and data of a send() are two.
function broadcast(members, message) {
  const frame = [Buffer.concat(WebSocket.Sender.frame(message, { fin: true, rsv1: false, opcode: 1, mask: false }))];
  for (const member of members) {
    if (member.readyState === WebSocket.OPEN) member._sender.sendFrame(frame);
  }
}

// As the documentation of ws has it: who has not answered the last ping is gone.
function findDead(sockets) {
  for (const member of sockets.clients) {
    if (!member.isAlive) {
      member.terminate();
      continue;
    }
    member.isAlive = false;
    member.ping();
  }
}
