// The library against the service.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import * as bourse from "../src/index.js";
import { file, freePort, KEY, poll, Proxy, Service } from "./service.js";

const CLUSTER = "acme-train";
let service: Service;
let client: bourse.Client;
let member: bourse.Client;
let folder: string;

before(async () => {
  service = await Service.started();
  folder = await mkdtemp(join(tmpdir(), "bourse-sdk-"));
  client = new bourse.Client({ url: service.url, token: service.token(), cluster: CLUSTER });
  member = new bourse.Client({ url: service.url, token: service.member() });
  await client.call("addSshKey", { path: { org: "acme" }, body: { name: "k", public_key: KEY } });
});

after(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

afterEach(async () => {
  await client.declare({ max_gpus: 0, max_price: 2.5 });
});

const gpus = async (): Promise<number> =>
  (await client.call("readCapacity", { query: { cluster: CLUSTER } })).declared?.max_gpus ?? 0;

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of items) {
    all.push(one);
  }
  return all;
}

describe("declarations", () => {
  test("what is left out stays, and what stands is not written again", async () => {
    const until = new Date(Date.now() + 86_400_000);
    const first = await client.declare({ max_gpus: 16, max_price: 2.5, until: until.toISOString() });
    const again = await client.declare({ max_gpus: 16, until });
    assert.equal(again.version, first.version);
    const lowered = await client.declare({ max_gpus: 8 });
    assert.deepEqual([lowered.version, lowered.declared?.max_price_per_gpu_hour], [first.version + 1, 2.5]);
    assert.equal((await client.declare({ until: null })).declared?.until, null);
  });

  test("changes of many writers all come about", async () => {
    await client.declare({ max_gpus: 0, max_price: 2.5 });
    const add = () => client.declare((state) => ({ max_gpus: (state.declared?.max_gpus ?? 0) + 8 }));
    await Promise.all([add(), add(), add(), add()]);
    assert.equal(await gpus(), 32);
  });

  test("a bid is compared and set too", async () => {
    const first = await client.bid({ limit_price: 2, max_gpus: 8 }, "acme-k8s");
    assert.equal((await client.bid({ max_gpus: 8 }, "acme-k8s")).version, first.version);
    assert.equal((await client.bid({ max_gpus: 0 }, "acme-k8s")).version, first.version + 1);
  });

  test("an operation is called by its path as well", async () => {
    const { data } = await client.api.GET("/api/vm/capacity", { params: { query: { cluster: CLUSTER } } });
    assert.equal(data?.cluster, CLUSTER);
    const wrong = client.api.GET("/api/vm/capacity", { params: { query: { cluster: "nope" } } });
    await assert.rejects(wrong, bourse.NotFound);
  });
});

describe("holds", () => {
  test("nodes are held, the lease is renewed, and they are given back", async () => {
    const ssh = await client.hold({ gpus: 16, maxPrice: 2.5, lease: "45s" }, async (nodes) => {
      const until = nodes.state.declared?.until;
      await poll("the renewal", () => nodes.state.declared?.until !== until);
      assert.equal(nodes.lost, undefined);
      return nodes.nodes.map((one) => one.ssh.join(" "));
    });
    assert.equal(ssh.length, 2);
    assert.match(ssh[0] ?? "", /^ssh tenant@198\.18\.\d+\.\d+$/);
    assert.equal(await gpus(), 0);
  });

  test("nodes are given back after an exception", async () => {
    const failing = client.hold({ gpus: 8, maxPrice: 2.5 }, async () => {
      throw new RangeError("out of memory");
    });
    await assert.rejects(failing, RangeError);
    assert.equal(await gpus(), 0);
  });

  test("a cluster that is in use is left alone", async () => {
    await client.declare({ max_gpus: 8, max_price: 2.5 });
    await assert.rejects(client.hold({ gpus: 16, maxPrice: 2.5 }, async () => assert.fail("taken")), bourse.ClusterInUse);
    assert.equal(await client.hold({ gpus: 16, maxPrice: 2.5, takeOver: true }, async (nodes) => nodes.nodes.length), 2);
  });

  test("what somebody else declares meanwhile is theirs", async () => {
    await client.hold({ gpus: 8, maxPrice: 2.5, lease: "30s" }, async (nodes) => {
      await client.declare({ max_gpus: 24, until: null });
      await poll("the loss", () => nodes.lost);
      assert.ok(nodes.signal.aborted);
    });
    assert.equal(await gpus(), 24);
  });

  test("nodes that do not come are not waited for and not paid", async () => {
    const hold = client.hold({ gpus: 800, maxPrice: 2.5, wait: "2s" }, async () => assert.fail("granted"));
    await assert.rejects(hold, (e) => e instanceof bourse.NotGranted && /What to do/.test(e.message));
    assert.equal(await gpus(), 0);
    await assert.rejects(client.hold({ gpus: 8, maxPrice: 1, lease: "30 minutes" }, async () => 0), /expected one like/);
  });
});

describe("files", () => {
  test("a file there and back", async () => {
    const path = await file(folder, "weights.bin", 5_000_000);
    const told: number[] = [];
    const item = await member.upload(path, { chunkBytes: 2_000_000, progress: (sent) => told.push(sent) });
    assert.deepEqual([item.status, told], ["ready", [2_000_000, 4_000_000, 5_000_000]]);
    await client.download(item.id, join(folder, "back"));
    assert.deepEqual(await readFile(join(folder, "back")), await readFile(path));
  });

  test("an empty file there and back", async () => {
    const path = await file(folder, "empty", 0);
    const item = await member.upload(path);
    assert.deepEqual([item.status, item.bytes], ["ready", 0]);
    await client.download(item.id, join(folder, "nothing"));
    assert.equal((await readFile(join(folder, "nothing"))).length, 0);
  });

  test("a later process goes on with an upload and with a download", async () => {
    const path = await file(folder, "long.bin", 5_000_000);
    const resumeFile = join(folder, "resume.json");
    const stopping = member.upload(path, {
      resumeFile,
      chunkBytes: 1_000_000,
      progress: (sent) => {
        if (sent === 3_000_000) {
          throw new RangeError("killed");
        }
      },
    });
    await assert.rejects(stopping, RangeError);
    assert.equal((await stat(resumeFile)).mode & 0o777, 0o600);
    const told: number[] = [];
    const item = await member.upload(path, { resumeFile, chunkBytes: 1_000_000, progress: (sent) => told.push(sent) });
    assert.deepEqual([item.revision, told], [1, [4_000_000, 5_000_000]]);
    await assert.rejects(stat(resumeFile));

    const whole = await readFile(path);
    await writeFile(join(folder, `later.${item.sha256?.slice(0, 16)}.part`), whole.subarray(0, 2_000_000));
    const got: number[] = [];
    await client.download(item.id, join(folder, "later"), { progress: (at) => got.push(at) });
    assert.ok((got[0] ?? 0) > 2_000_000);
    assert.deepEqual(await readFile(join(folder, "later")), whole);
  });

  test("a disk that is full ends a download at once", async () => {
    const item = await member.upload(await file(folder, "full.bin", 3_000_000));
    const partial = join(folder, `full.${item.sha256?.slice(0, 16)}.part`);
    await symlink("/dev/full", partial);
    const sleep = async () => assert.fail("it was tried again");
    const hasty = new bourse.Client({ url: service.url, token: service.token(), retry: { sleep } });
    await assert.rejects(hasty.download(item.id, join(folder, "full")), (e) => {
      assert.ok(e instanceof bourse.BourseError && !(e instanceof bourse.AnswerLost));
      assert.ok(e.message.startsWith(`${partial} could not be written (ENOSPC`), e.message);
      assert.match(e.message, /What to do: /);
      return true;
    });
  });

  test("what a program's own progress throws is its own", async () => {
    const item = await member.upload(await file(folder, "watched.bin", 1000));
    const progress = () => {
      throw new RangeError("stop");
    };
    await assert.rejects(client.download(item.id, join(folder, "watched"), { progress }), RangeError);
  });

  test("a file with a credential is refused with its place", async () => {
    const path = join(folder, "notes.txt");
    const key = Buffer.from(await readFile(await file(folder, "random", 300))).toString("base64");
    await writeFile(path, `${"x".repeat(100)}\n-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`);
    await assert.rejects(member.upload(path), (e) => e instanceof bourse.SecretDetected && e.body.offset === 101);
  });
});

describe("lists", () => {
  test("iterators go over every page", async () => {
    for (let n = 0; n < 35; n++) {
      await client.declare({ max_gpus: 0, max_price: (100 + n) / 100 }, "acme-batch");
    }
    const entries = await collected(client.activity({ cluster: "acme-batch", who: "user" }));
    assert.ok(entries.length >= 35);
    assert.equal(new Set(entries.map((one) => one.id)).size, entries.length);
    const ids = (await collected(client.orgActivity({ reads: true }))).map((one) => one.id);
    assert.deepEqual([...new Set(ids)].sort((a, b) => b - a), ids);
    assert.ok((await collected(client.tokenActivity())).length > 35);
    for (const items of [client.usage(), client.ledger(), client.k8sClusters()]) {
      assert.ok((await collected<unknown>(items)).length > 0);
    }
    assert.deepEqual(await collected(new bourse.Client({ url: service.url }).publicCheckpoints()), []);
  });
});

describe("the organization", () => {
  test("a member makes a cluster and a token, and takes them back", async () => {
    const { pools } = await member.call("listConsolePools");
    const cluster = await member.call("createConsoleCluster", { body: { name: "acme-eval", pool: pools[0]?.pool ?? "" } });
    const minted = await member.call("mintConsoleToken", {
      body: {
        name: "agent",
        scopes: ["capacity:read", "capacity:write"],
        cluster: cluster.name,
        limits: { max_gpus: 8, max_lease: "8h" },
      },
    });
    const agent = new bourse.Client({ url: service.url, token: minted.token });
    await assert.rejects(agent.declare({ max_gpus: 16, max_price: 2.5, until: 3600 }), (e) => {
      assert.ok(e instanceof bourse.TokenLimit);
      assert.deepEqual([e.body.limit, e.body.maximum], ["max_gpus", 8]);
      return true;
    });
    assert.ok((await collected(member.clusters("in-use"))).some((one) => one.name === "acme-eval"));

    await member.call("revokeConsoleToken", { path: { token_id: minted.token_id } });
    await assert.rejects(agent.call("readCapacity"), bourse.Unauthorized);
    const revoked = (await collected(member.tokens())).find((one) => one.token_id === minted.token_id);
    assert.ok(revoked?.revoked_at);
    const retire = () => member.call("retireConsoleCluster", { path: { cluster: "acme-eval" } });
    const retired = await retire();
    assert.ok(retired.retired_at);
    assert.deepEqual(await retire(), retired, "retiring it again changes nothing");
    assert.ok((await collected(member.clusters("retired"))).some((one) => one.name === "acme-eval"));
  });

  test("lists are for members", async () => {
    assert.ok((await collected(member.members())).some((one) => one.username === "alice"));
    await assert.rejects(client.members().next(), bourse.Unauthorized);
    await assert.rejects(member.webhookDeliveries("whe_none").next(), bourse.NotFound);
  });
});

describe("refusals", () => {
  test("each is its own error", async () => {
    const at = (token: string) => new bourse.Client({ url: service.url, token });
    const batch = "acme-batch";
    const cases: [new (...all: never[]) => bourse.ApiError, () => Promise<unknown>][] = [
      [bourse.Unauthorized, () => at("nonsense").call("whoami")],
      [bourse.Forbidden, () => at(service.token("bare")).call("readCapacity", { query: { cluster: batch } })],
      [bourse.NotFound, () => client.call("readCapacity", { query: { cluster: "acme-trian" } })],
      [bourse.AmbiguousCluster, () => client.call("readCapacity", { query: {} })],
      [bourse.BadRequest, () => client.declare({ max_gpus: 3, max_price: 2 }, batch)],
      [bourse.PricePrecision, () => client.declare({ max_gpus: 8, max_price: 2.345 }, batch)],
      [bourse.PriceAboveMaximum, () => client.declare({ max_gpus: 8, max_price: 99 }, batch)],
      [bourse.BidTooLow, () => client.declare({ max_gpus: 8, max_price: 0.01 }, batch)],
      [bourse.StaticPosture, () => client.declare({ max_gpus: 64 }, "acme-legacy")],
      [bourse.Gone, () => client.download("ckp_none", join(folder, "none"))],
    ];
    for (const [kind, call] of cases) {
      await assert.rejects(call(), (e) => e instanceof kind && /What to do: /.test(e.message) && e.detail !== "");
    }
  });

  test("a token that was revoked", async () => {
    const own = new bourse.Client({ url: service.url, token: service.token("readonly"), cluster: CLUSTER });
    await own.call("revokeOwnToken");
    await assert.rejects(own.call("whoami"), bourse.Unauthorized);
    await assert.rejects(own.events().next(), bourse.Unauthorized);
  });

  test("a server that is away, and an address that is none", async () => {
    const away = new bourse.Client({ url: "http://127.0.0.1:9", token: "t", retry: { patience: 0 } });
    await assert.rejects(away.call("whoami"), (e) => e instanceof bourse.ServerUnreachable && /What to do/.test(e.message));
    assert.throws(() => new bourse.Client({ url: "localhost:8080" }), /expected one like/);
  });

  test("an older server, and something else that answers", async () => {
    const proxy = await Proxy.started(service.port, await freePort());
    try {
      const reply = (status: number, body: string) =>
        `HTTP/1.1 ${status} X\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
      await proxy.order("GET /api/vm/alerts", { reply: reply(404, '{"error":"not-found","detail":"no route"}') });
      const older = '{"paths":{"/api/vm/capacity":{"get":{"operationId":"readCapacity"}}}}';
      await proxy.order("GET /api/vm/openapi.json", { reply: reply(200, older) });
      const through = new bourse.Client({ url: proxy.url, token: service.token(), retry: { patience: 0 } });
      await assert.rejects(through.call("readAlerts"), bourse.OperationMissing);
      await proxy.order("GET /api/whoami", { reply: reply(200, "<html>") });
      await assert.rejects(through.call("whoami"), bourse.UnexpectedAnswer);
    } finally {
      proxy.close();
    }
  });
});

test("events come with their models", async () => {
  const stop = new AbortController();
  const events = client.events({ signal: stop.signal });
  const first = await events.next();
  assert.ok(first.value?.type === "capacity" && first.value.data.cluster === CLUSTER);
  await client.declare({ max_gpus: 8, max_price: 2.5 });
  for await (const event of events) {
    if (event.type === "grant") {
      assert.ok(event.data.granted_at);
      break;
    }
  }
  stop.abort();
});
