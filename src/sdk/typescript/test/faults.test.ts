// The library while answers are lost, requests are cut off, and the service is throttled, slow, killed and restarted:
// no declaration twice, no upload lost, no event twice, and every error one that says what to do.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import * as bourse from "../src/index.js";
import { file, freePort, KEY, poll, Proxy, Service } from "./service.js";

const CLUSTER = "acme-train";
// A restart can take a minute on a busy machine.
const retry = { patience: 240, first: 0.05, longest: 0.5 };
const PUT = "PUT /api/vm/capacity";
let service: Service;
let proxy: Proxy;
let folder: string;
let client: bourse.Client;
/** The same for requests that are held. */
let patient: bourse.Client;
let member: bourse.Client;
/** Past the proxy, and as somebody else. */
let other: bourse.Client;
let written: string[];

before(async () => {
  // Session addresses are those of base-url: clients come through the proxy with them as well.
  const port = await freePort();
  service = await Service.started(`base-url=http://127.0.0.1:${port}`);
  proxy = await Proxy.started(service.port, port);
  folder = await mkdtemp(join(tmpdir(), "bourse-sdk-"));
  client = new bourse.Client({ url: proxy.url, token: service.token(), cluster: CLUSTER, retry, timeout: 10 });
  patient = new bourse.Client({ url: proxy.url, token: service.token(), cluster: CLUSTER, retry, timeout: 120 });
  member = new bourse.Client({ url: proxy.url, token: service.member(), retry, timeout: 10 });
  other = new bourse.Client({ url: service.url, token: service.token("bound"), cluster: CLUSTER, retry });
  await other.call("addSshKey", { path: { org: "acme" }, body: { name: "k", public_key: KEY } });
});

after(async () => {
  proxy.close();
  await service.close();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  assert.deepEqual(await proxy.left(), []);
  await other.declare({ max_gpus: 0, max_price: 2.5 });
  written = await writes();
});

async function writes(): Promise<string[]> {
  const all: string[] = [];
  for await (const entry of other.orgActivity()) {
    if (entry.action === "vm_capacity_put" && entry.subject === CLUSTER) {
      all.unshift(entry.detail);
    }
  }
  return all;
}

async function since(): Promise<number> {
  return (await writes()).length - written.length;
}

const gpus = async (): Promise<number> =>
  (await other.call("readCapacity", { query: {} })).declared?.max_gpus ?? 0;

const add = (to: bourse.Client) => to.declare((state) => ({ max_gpus: (state.declared?.max_gpus ?? 0) + 8 }));

const refused = (status: number, body: string, ...headers: string[]): string =>
  [`HTTP/1.1 ${status} X`, `Content-Length: ${body.length}`, "Connection: close", ...headers, "", body].join("\r\n");

test("a declaration whose answer was lost is not made twice", async () => {
  for (const cut of [0, 20, 400]) {
    await proxy.order(PUT, { cut_answer: cut });
    await add(client);
  }
  assert.deepEqual([await since(), await gpus()], [3, 24]);
});

test("a declaration that was lost on its way is made", async () => {
  await proxy.order(PUT, { cut_body: 5 });
  await add(client);
  assert.deepEqual([await since(), await gpus()], [1, 8]);
});

test("what somebody declared after a lost answer stays", async () => {
  await proxy.order(PUT, { cut_answer: 0 });
  // The read that follows is held, and somebody writes before it is answered.
  await proxy.order("GET /api/vm/capacity", {});
  await proxy.order("GET /api/vm/capacity", { hold: true });
  const declared = patient.declare({ max_gpus: 8 });
  await poll("the declaration", async () => (await gpus()) === 8);
  await poll("the second read", async () => (await proxy.left()).length === 0);
  await other.declare({ max_gpus: 40 });
  await proxy.release();
  assert.equal((await declared).declared?.max_gpus, 40);
  assert.deepEqual([await since(), await gpus()], [2, 40]);
});

test("what somebody else declared is not taken for a lost request", async () => {
  await proxy.order(PUT, { cut_body: 5 });
  await proxy.order("GET /api/vm/capacity", {});
  await proxy.order("GET /api/vm/capacity", { hold: true });
  const declared = add(patient);
  // The very same, from the same state: only who wrote it tells.
  await poll("the second read", async () => (await proxy.left()).length === 0);
  await add(other);
  await proxy.release();
  await declared;
  assert.deepEqual([await since(), await gpus()], [2, 16]);
});

test("a crash between a declaration and its answer", async () => {
  await proxy.order(PUT, { cut_answer: 0 });
  const declared = add(client);
  await poll("the declaration", async () => (await gpus()) === 8);
  await service.restart();
  await declared;
  assert.deepEqual([await since(), await gpus()], [1, 8]);
});

test("throttling is waited out, and patience ends with the last error", async () => {
  const limited = '{"error":"rate-limited","reason":"cadence","detail":"wait","retry_after_s":1}';
  await proxy.order(PUT, { reply: refused(429, limited, "Retry-After: 1") });
  await proxy.order(PUT, { reply: refused(503, '{"error":"overloaded"}', "Retry-After: 1") });
  await proxy.order(PUT, { reply: refused(502, "<html>") });
  const began = Date.now();
  await add(client);
  assert.ok(Date.now() - began > 2000);
  assert.deepEqual([await since(), await gpus()], [1, 8]);
  const hasty = new bourse.Client({ url: proxy.url, token: service.token(), retry: { patience: 1 } });
  await proxy.order("GET /api/whoami", { reply: refused(429, limited.replace("1}", "30}")) });
  await assert.rejects(hasty.call("whoami"), (e) => e instanceof bourse.RateLimited && e.retryAfter === 30);
});

test("declarations under many faults", async () => {
  // Each declaration meets a fault of another kind, the reads in between some too.
  const faults = [{ cut_answer: 0 }, { cut_answer: 300 }, { cut_body: 10 }, { wait: 0.1 }, { reply: refused(503, '{"error":"overloaded"}') }];
  for (let n = 0; n < 15; n++) {
    await proxy.order(PUT, faults[n % faults.length] ?? {});
    await proxy.order("GET /api/vm/capacity", faults[(n * 2) % faults.length] ?? {});
    await Promise.all([add(client), ...(n % 5 === 0 ? [add(other)] : [])]);
    await poll("the faults", async () => (await proxy.left()).length === 0);
  }
  assert.deepEqual([await since(), await gpus()], [18, 144]);
});

test("writes that are not safe to repeat are not repeated", async () => {
  const orgwide = new bourse.Client({ url: service.url, token: service.token() });
  const path = { org: "acme" };
  const key = await orgwide.call("addSshKey", { path, body: { name: "second", public_key: KEY, cluster: "acme-batch" } });
  await proxy.order("DELETE /api/vm/orgs", { cut_answer: 0 });
  await assert.rejects(client.call("revokeSshKey", { path: { ...path, key_id: key.key_id } }), bourse.AnswerLost);
  assert.ok(!(await orgwide.call("listSshKeys", { path })).keys.some((one) => one.key_id === key.key_id));
});

/** It is there once, whole, and as it was sent. */
async function published(path: string, item: bourse.Checkpoint): Promise<void> {
  const listed: string[] = [];
  for await (const one of other.checkpoints()) {
    if (one.filename === basename(path)) {
      listed.push(`${one.id} ${one.status}`);
    }
  }
  assert.deepEqual(listed, [`${item.id} ready`]);
  await other.download(item.id, join(folder, "published"));
  assert.deepEqual(await readFile(join(folder, "published")), await readFile(path));
}

test("an upload that is cut off again and again", async () => {
  const path = await file(folder, "cut.bin", 6_000_000);
  for (const cut of [0, 1, 700_000, 1_500_000]) {
    await proxy.order("PUT /upload/", { cut_body: cut });
  }
  await proxy.order("PUT /upload/", { cut_answer: 0 });
  await published(path, await member.upload(path, { chunkBytes: 2_000_000 }));
});

test("a chunk that takes longer than the patience is gone on with", async () => {
  const path = await file(folder, "slow.bin", 3_000_000);
  let ahead = 0;
  const clock = () => performance.now() / 1000 + ahead;
  const slow = new bourse.Client({ url: proxy.url, token: service.member(), retry: { ...retry, clock } });
  // The first request asks how much is there.
  await proxy.order("PUT /upload/", {});
  await proxy.order("PUT /upload/", { hold: true, cut_body: 1_000_000 });
  const uploaded = slow.upload(path);
  await poll("the chunk", async () => (await proxy.left()).length === 0);
  ahead = 600;
  await proxy.release();
  await published(path, await uploaded);
});

test("lost answers to announcement and commit", async () => {
  for (const replace of [true, false]) {
    const path = await file(folder, `lost-${replace}.bin`, 100_000);
    await proxy.order("POST /api/checkpoints HTTP", { cut_answer: 0 });
    await proxy.order("POST /api/checkpoints/", { cut_answer: 0 });
    await published(path, await member.upload(path, { replace }));
  }
});

test("a crash in the middle of an upload", async () => {
  const path = await file(folder, "crash.bin", 12_000_000);
  let restart: Promise<void> | undefined;
  const item = await member.upload(path, {
    chunkBytes: 1_000_000,
    progress: (sent) => {
      if (sent > 5_000_000) {
        restart ??= service.restart();
      }
    },
  });
  assert.ok(restart);
  await restart;
  await published(path, item);
});

test("a download that is cut off again and again", async () => {
  const path = await file(folder, "down.bin", 6_000_000);
  const item = await member.upload(path);
  for (const cut of [0, 1_000_000, 2_500_000]) {
    await proxy.order(`GET /api/checkpoints/${item.id}/content`, { cut_answer: cut });
  }
  await client.download(item.id, join(folder, "back"));
  assert.deepEqual(await readFile(join(folder, "back")), await readFile(path));
});

test("a file that is changed while it is sent", async () => {
  const path = await file(folder, "changed.bin", 3_000_000);
  const change = { chunkBytes: 1_000_000, progress: () => void file(folder, "changed.bin", 2_000_000) };
  await assert.rejects(member.upload(path, change), bourse.FileChanged);
});

test("each grant is told once over cuts and a crash", async () => {
  const stop = new AbortController();
  const grants: (string | null)[] = [];
  await proxy.order("GET /api/vm/events", { cut_answer: 3000 });
  await proxy.order("GET /api/vm/events", { cut_answer: 700 });
  const following = (async () => {
    for await (const event of client.events({ signal: stop.signal })) {
      if (event.type === "grant") {
        grants.push(event.data.public_ip);
      }
    }
  })();
  let held: (string | null)[] = [];
  for (const wanted of [8, 24, 40]) {
    await other.declare({ max_gpus: wanted });
    held = await poll(`${wanted} GPUs`, async () => {
      const state = await other.call("readCapacity", { query: {} });
      const active = state.allocations.filter((one) => one.state === "active").map((one) => one.public_ip);
      return active.length === wanted / 8 ? active : undefined;
    });
    if (wanted === 24) {
      await service.restart();
    }
  }
  await poll("the grants", () => grants.length >= 5);
  assert.deepEqual(grants.toSorted(), held.toSorted());
  stop.abort();
  await following;
});

test("a hold outlives lost answers and a crash", async () => {
  await proxy.order(PUT, { cut_answer: 0 });
  await client.hold({ gpus: 8, maxPrice: 2.5, lease: "90s" }, async (nodes) => {
    const begun = nodes.state.declared?.until;
    await service.restart();
    await poll("the renewal", () => nodes.state.declared?.until !== begun, 240);
    assert.equal(nodes.lost, undefined);
    assert.equal((await nodes.refresh()).length, 1);
    await proxy.order(PUT, { cut_answer: 0 });
  });
  assert.equal(await gpus(), 0);
});

test("nodes that cannot be given back are told of", async () => {
  const hasty = new bourse.Client({ url: proxy.url, token: service.token(), cluster: CLUSTER, retry: { patience: 1 } });
  const hold = hasty.hold({ gpus: 8, maxPrice: 2.5 }, () => proxy.order("", { cut_body: 0, cut_answer: 0, times: 99 }));
  await assert.rejects(hold, (e) => e instanceof bourse.NotGivenBack && /lapses at .*What to do: /.test(e.message));
  await proxy.calm();
});
