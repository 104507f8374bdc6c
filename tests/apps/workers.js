/* SPDX-License-Identifier: MIT
 *
 * workers.js FILE N - four workers count under a lock made of Atomics; the pool hashes and reads. Prints the file's digest.
 */
'use strict';
const { Worker, isMainThread, workerData, parentPort } = require('worker_threads');
const crypto = require('crypto');
const fs = require('fs');

const EACH = 20000;

function lock(word) {
	while (Atomics.exchange(word, 0, 1))
		Atomics.wait(word, 0, 1, 1000);
}

function unlock(word) {
	Atomics.store(word, 0, 0);
	Atomics.notify(word, 0, 1);
}

if (!isMainThread) {
	const word = new Int32Array(workerData);
	for (let i = 0; i < EACH; i++) {
		lock(word);
		word[1] = word[1] + 1;
		unlock(word);
	}
	parentPort.postMessage(new Array(1000).fill(1));
} else {
	main(process.argv[2], Number(process.argv[3])).catch((e) => {
		console.log(String(e));
		process.exit(1);
	});
}

function expect(what, got, wanted) {
	if (got !== wanted)
		throw new Error(`${what}: ${got}, not ${wanted}`);
}

function digest(data) {
	return crypto.createHash('sha256').update(data).digest('hex');
}

async function main(file, n) {
	const shared = new SharedArrayBuffer(8);
	const workers = [1, 2, 3, 4].map(() => new Promise((done, failed) => {
		const worker = new Worker(__filename, { workerData: shared });
		let sum = 0;
		worker.on('message', (m) => { sum += m.reduce((a, b) => a + b); });
		worker.on('error', failed);
		worker.on('exit', (code) => code ? failed(new Error(`exit ${code}`)) : done(sum));
	}));
	const keys = [];
	const reads = [];
	for (let i = 0; i < n; i++) {
		keys.push(new Promise((done, failed) =>
			crypto.pbkdf2(`key${i % 4}`, 'salt', 2000, 32, 'sha512', (e, key) => e ? failed(e) : done(key.toString('hex')))));
		reads.push(fs.promises.readFile(file));
	}
	expect('messages', (await Promise.all(workers)).reduce((a, b) => a + b), 4000);
	expect('counter', new Int32Array(shared)[1], 4 * EACH);
	(await Promise.all(keys)).forEach((key, i) =>
		expect('key', key, crypto.pbkdf2Sync(`key${i % 4}`, 'salt', 2000, 32, 'sha512').toString('hex')));
	const digests = new Set((await Promise.all(reads)).map(digest));
	expect('digests', digests.size, 1);
	console.log([...digests][0], 'all sums are right');
}
