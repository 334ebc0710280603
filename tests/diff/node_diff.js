// SPDX-License-Identifier: MIT
// Compares our verdict on each message of tests/unit/h1_messages.h with that
// of Node's HTTP server: taken or refused, and if taken its method, target and
// content. Every difference has to stand in expected.json, with the section of
// the RFC that decides it, and every one listed there has to be one. Where
// versions of Node differ, "node" there has a verdict (or null: the same as
// ours) from that major version of llhttp, its parser, on.
//
// usage: node node_diff.js [PATH_OF_H1_VERDICT]   (else in $RD_BUILD)
//        node node_diff.js PATH --list            (prints all differences)
'use strict';

const { spawnSync } = require('child_process');
const fs = require('fs');
const http = require('http');
const net = require('net');
const path = require('path');

// A message takes milliseconds; this only ends a test that hangs.
const HANG_MS = 20000;

const REFUSED = 'refused';

// "METHOD target content", or with "bad"/"incomplete" for the content.
function describe(method, target, body) {
    return method + ' ' + target + ' ' + JSON.stringify(body);
}

function ourVerdicts(program) {
    const run = spawnSync(program, { encoding: 'utf8', maxBuffer: 1 << 24 });
    if (run.error || run.status !== 0) {
        throw run.error || new Error(program + ': ' + run.stderr);
    }
    return run.stdout.trimEnd().split('\n').map((line) => {
        const m = JSON.parse(line);
        const body = m.fault ||
            Buffer.from(m.body || '', 'hex').toString('latin1');
        m.verdict = m.status !== 0 ? REFUSED :
            describe(m.method, m.target, body);
        return m;
    });
}

// A server that notes in socket.seen what becomes of the first request.
function makeServer() {
    const server = http.createServer();

    function note(req, res) {
        const seen = req.socket.seen;
        if (seen.method !== undefined) {
            res.end();
            return;
        }
        seen.method = req.method;
        seen.target = req.url;
        const parts = [];
        req.on('data', (part) => parts.push(part));
        req.on('error', () => {});
        req.on('end', () => {
            seen.body = Buffer.concat(parts).toString('latin1');
            res.shouldKeepAlive = false;
            res.end();
        });
    }

    server.on('connection', (socket) => {
        socket.seen = server.seen;
    });
    server.on('request', note);
    server.on('checkContinue', note);
    server.on('checkExpectation', note);
    server.on('connect', (req, socket) => {
        Object.assign(socket.seen, { method: req.method, target: req.url,
            body: '' });
        socket.destroy();
    });
    server.on('clientError', (error, socket) => {
        socket.seen.error = socket.seen.error || error.code;
        socket.destroy();
    });
    return server;
}

// What the server makes of `raw` when the client sends it and then shuts down
// its side.
function nodeVerdict(server, raw) {
    return new Promise((resolve, reject) => {
        const seen = {};
        const socket = net.connect(server.address().port, '127.0.0.1');
        const timer = setTimeout(() => {
            socket.destroy();
            reject(new Error('no end'));
        }, HANG_MS);
        server.seen = seen;
        socket.on('error', () => {});
        socket.on('connect', () => socket.end(raw));
        socket.resume();
        socket.on('close', () => {
            clearTimeout(timer);
            resolve(seen.method === undefined ? REFUSED : describe(seen.method,
                seen.target, seen.body !== undefined ? seen.body :
                    seen.error === 'HPE_INVALID_EOF_STATE' ? 'incomplete' :
                        'bad'));
        });
    });
}

function expectedOf(entry) {
    if (entry.node === null || typeof entry.node === 'string') {
        return entry.node;
    }
    const major = parseInt(process.versions.llhttp, 10);
    const known = Object.keys(entry.node).map(Number).sort((a, b) => a - b);
    const fit = known.filter((v) => v <= major).pop();
    return entry.node[fit === undefined ? known[0] : fit];
}

function compare(messages, expected) {
    const faults = [];
    const byName = new Map(expected.map((e) => [e.name, e]));
    if (byName.size !== expected.length) {
        faults.push('expected.json names a message twice');
    }
    for (const m of messages) {
        const e = byName.get(m.name);
        const want = e ? expectedOf(e) : null;
        byName.delete(m.name);
        const found = m.name + ': ours ' + m.verdict + ', node ' + m.node;
        if (m.verdict === m.node) {
            if (want !== null) {
                faults.push(m.name + ': listed, but both say ' + m.node);
            }
        } else if (want === null) {
            faults.push('not listed: ' + found);
        } else if (e.ours !== m.verdict || want !== m.node) {
            faults.push('other than listed: ' + found);
        }
        if (e && !/^RFC \d{4} \d+(\.\d+)*: ./.test(e.decided)) {
            faults.push(m.name + ': no section of an RFC');
        }
    }
    for (const name of byName.keys()) {
        faults.push('listed, but no such message: ' + name);
    }
    return faults;
}

async function main() {
    const args = process.argv.slice(2);
    const list = args.includes('--list');
    const program = args.find((a) => !a.startsWith('--')) ||
        path.join(process.env.RD_BUILD || '.', 'h1_verdict');
    const messages = ourVerdicts(path.resolve(program));
    const names = new Set(messages.map((m) => m.name));
    if (names.size !== messages.length) {
        throw new Error('two messages have the same name');
    }
    const server = makeServer();
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    for (const m of messages) {
        m.node = await nodeVerdict(server, Buffer.from(m.raw, 'hex'));
    }
    server.close();
    if (list) {
        console.log(JSON.stringify(messages.filter((m) =>
            m.verdict !== m.node).map((m) => ({ name: m.name,
            ours: m.verdict, node: m.node, decided: '' })), null, 2));
        return 0;
    }
    const expected = JSON.parse(fs.readFileSync(
        path.join(__dirname, 'expected.json'), 'utf8'));
    const faults = compare(messages, expected);
    faults.forEach((f) => console.log(f));
    console.log(`${messages.length} messages, ${expected.length} known ` +
        `differences, ${faults.length} faults`);
    return faults.length === 0 ? 0 : 1;
}

main().then((status) => {
    process.exitCode = status;
}, (error) => {
    console.error(error);
    process.exitCode = 1;
});
