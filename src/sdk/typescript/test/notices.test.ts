// Notices of a node, in a file of the tests' own.
import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { type NodeNotice, readNotice, watchNotices } from "../src/index.js";

const GIVEN = {
  id: "outbid-1764378000000",
  state: "given",
  reason: "outbid",
  reclaim_at: "2025-11-29T01:00:00.000Z",
  drill: false,
  sequence: 1,
};

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bourse-notices-"));
  path = join(folder, "notice.json");
});

afterEach(() => rm(folder, { recursive: true }));

async function write(changes: Partial<typeof GIVEN> = {}): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify({ ...GIVEN, ...changes }));
  await rename(`${path}.new`, path);
}

test("a notice is read, and none elsewhere", async () => {
  assert.equal(await readNotice(path), undefined);
  await write();
  const notice = await readNotice(path);
  assert.deepEqual([notice?.reason, notice?.withdrawn, notice?.drill], ["outbid", false, false]);
  assert.equal(notice?.reclaimAt.toISOString(), GIVEN.reclaim_at);
});

test("each notice and withdrawal is told once", async () => {
  const told: NodeNotice[] = [];
  let next: () => void = () => undefined;
  const end = watchNotices(
    (notice) => {
      told.push(notice);
      next();
    },
    { path, everyMillis: 10 },
  );
  const alive = setInterval(() => undefined, 1000);
  try {
    for (const changes of [{}, { state: "withdrawn", sequence: 2 }, { id: "drill-5", drill: true }]) {
      const heard = new Promise<void>((resolve) => (next = resolve));
      await write(changes);
      await heard;
    }
  } finally {
    end();
    clearInterval(alive);
  }
  assert.deepEqual(
    told.map((notice) => [notice.id, notice.withdrawn, notice.drill]),
    [
      ["outbid-1764378000000", false, false],
      ["outbid-1764378000000", true, false],
      ["drill-5", false, true],
    ],
  );
});

test("an error of onNotice is logged and the next notice is told", async (t) => {
  const log = t.mock.method(console, "error", () => undefined);
  for (const fail of [
    () => {
      throw new Error("of the user's");
    },
    () => Promise.reject(new Error("of the user's")),
  ]) {
    await write();
    let calls = 0;
    await new Promise<void>((resolve) => {
      const alive = setInterval(() => undefined, 1000);
      const end = watchNotices(
        async () => {
          if (++calls === 1) {
            await write({ id: "outbid-2" });
            return fail();
          }
          end();
          clearInterval(alive);
          resolve();
        },
        { path, everyMillis: 10 },
      );
    });
  }
  assert.equal(log.mock.callCount(), 2);
});
