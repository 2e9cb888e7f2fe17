// How long a stream of events is gone on with, on a clock of the tests' own: nothing here waits.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { follow } from "../src/events.js";
import * as bourse from "../src/index.js";

const EVENT = "id: 7\nevent: capacity\ndata: {}\n\n";
const BEAT = ":\n\n";
/** Whatever the service sends first, and the half of an event. */
const BROKEN = "retry: 3000\n\nid: 7\nevent: capacity\n";

let now: number;
let pauses: number[];
let told: (string | undefined)[];

beforeEach(() => {
  now = 1000;
  pauses = [];
  told = [];
});

/** A connection: what comes on it, and after how many quiet seconds it breaks. "refused" for none. */
type Connection = "refused" | { text: string; quiet: number };

const breaking = (text: string, quiet = 0): Connection => ({ text, quiet });

/** The types of the events of these connections; stopped when they are over. */
async function followed(connections: Connection[], patience = 120): Promise<string[]> {
  const stop = new AbortController();
  const connect = async (last: string | undefined): Promise<Response> => {
    told.push(last);
    const one = connections[told.length - 1];
    if (one === undefined) {
      stop.abort();
      stop.signal.throwIfAborted();
    }
    if (one === undefined || one === "refused") {
      throw new bourse.ServerUnreachable("nobody is there");
    }
    let sent = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (sent) {
            now += one.quiet;
            controller.error(new TypeError("terminated"));
          } else {
            sent = true;
            controller.enqueue(new TextEncoder().encode(one.text));
          }
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body);
  };
  const sleep = async (seconds: number): Promise<void> => {
    pauses.push(seconds);
    now += seconds;
  };
  const retry: bourse.Retry = { patience, first: 1, longest: 20, clock: () => now, sleep, chance: () => 1 };
  const types: string[] = [];
  for await (const event of follow(connect, retry, undefined, stop.signal)) {
    types.push(event.type);
  }
  return types;
}

test("an outage after quiet hours has all of its tries", async () => {
  for (const text of [EVENT, EVENT + BEAT]) {
    [now, pauses, told] = [1000, [], []];
    const types = await followed([breaking(text, 7200), "refused", "refused", "refused", breaking(EVENT)]);
    assert.deepEqual(types, ["capacity", "capacity"]);
    assert.deepEqual(pauses, [1, 2, 4, 8, 1]);
    assert.deepEqual(told, [undefined, "7", "7", "7", "7", "7"]);
  }
});

test("each outage has a patience of its own", async () => {
  // 91 s each, of 120: an event or only a sign of life, and the next begins anew.
  const outage = new Array<Connection>(7).fill("refused");
  const types = await followed(["refused", ...outage, breaking(EVENT), ...outage, breaking(BEAT), ...outage]);
  assert.deepEqual(types, ["capacity"]);
  assert.deepEqual(pauses, new Array(3).fill([1, 2, 4, 8, 16, 20, 20, 20]).flat());
});

test("a service that breaks each connection is asked less and less often", async () => {
  await assert.rejects(followed(new Array<Connection>(100).fill(breaking(BROKEN))), bourse.AnswerLost);
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 20, 20, 20, 20]);
});

test("without patience the first failure is told", async () => {
  await assert.rejects(followed([breaking(BEAT), "refused"], 0), bourse.AnswerLost);
  assert.deepEqual(pauses, []);
});
