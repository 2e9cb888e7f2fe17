// An agent that does what the skill says and nothing else, played by the official TypeScript SDK's client: it makes
// the calls of the document's `json mcp` blocks in their order, each with what it answers or why it is refused. Ends
// non-zero at the first call that the service answers otherwise. scripts/README.md tells how the blocks are written.
//
//   node mcp-skill.mjs ENDPOINT TOKEN SKILL CLUSTER RIVAL PUBLIC_KEY
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** A wait ends when something happens, after 25 s at the latest; a node takes a tick or two. */
const MOST_REPEATS = 20;

const [endpoint, token, skill, cluster, rival, publicKey] = process.argv.slice(2);
const client = new Client({ name: "bourse-skill", version: "1" });
const transport = new StreamableHTTPClientTransport(new URL(endpoint), {
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

/** What `<name>` stands for: what the agent was given, and what it was told. */
const known = new Map([
  ["cluster", cluster],
  ["public_key", publicKey],
  ["in_15_minutes", inMinutes(15)],
  ["in_20_minutes", inMinutes(20)],
]);

/** What has to be so before a block holds, by the word after `mcp`, and how it ends. */
const situations = {
  // The ceiling falls under the one that the node was granted at, which ends its protection once a tick has read it.
  // Then a rival bids more for every node of the pool.
  notice: [
    async () => {
      const { state } = await bid({ cluster, max_gpus: 8, max_price_per_gpu_hour: 1.5 });
      await sleep(Date.parse(state.declared.effective_at) - Date.now() + 5_000);
      await bid({ cluster: rival, max_gpus: 112, max_price_per_gpu_hour: 2 });
    },
    () => bid({ cluster: rival, max_gpus: 0, max_price_per_gpu_hour: 2 }),
  ],
};

await client.connect(transport);
let calls = 0;
for (const block of blocks(readFileSync(skill, "utf8"))) {
  const [before, after] = block.situation ? situations[block.situation] : [];
  assert.ok(!block.situation || before, `line ${block.line}: no situation is called ${block.situation}`);
  await before?.();
  for (const step of block.steps) {
    await take(step);
    calls++;
  }
  await after?.();
}
assert.ok(calls > 0, `${skill} has no calls`);
console.log(`${calls} calls are answered as the skill says`);
await transport.terminateSession();
await client.close();

function inMinutes(minutes) {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

/** The `json mcp` blocks of a Markdown text. A call begins with a brace in the first column. */
function blocks(text) {
  return [...text.matchAll(/^```json mcp ?(\w*)\n(.*?)^```$/gms)].map((found) => ({
    situation: found[1],
    line: text.slice(0, found.index).split("\n").length,
    steps: found[2].split(/\n(?=\{)/).map((step) => JSON.parse(step)),
  }));
}

/** Makes one call and compares the answer. */
async function take(step) {
  for (let tries = 1; ; tries++) {
    const result = await call(step.tool, filled(step.arguments));
    const told = result.structuredContent;
    const where = `${JSON.stringify(step)} answered ${JSON.stringify(result)}`;
    if (step.refused) {
      assert.equal(result.isError, true, where);
      assert.equal(told.error, step.refused, where);
      assert.equal(told.reason, step.reason, where);
      assert.ok(result.content[1].text.includes(step.helps), where);
      return;
    }
    assert.notEqual(result.isError, true, where);
    const wanted = step.repeat_until ?? step.answer;
    if (holds(wanted, told)) {
      learn(wanted, told);
      return;
    }
    assert.ok(step.repeat_until && tries < MOST_REPEATS, where);
    known.set("cursor", told.cursor);
  }
}

/** A call; one that comes too early is made again once the service takes it, as the skill says. */
async function call(tool, args) {
  const result = await client.callTool({ name: tool, arguments: args });
  const told = result.structuredContent;
  console.log(`${tool} ${args.action ?? ""} ${args.phase ?? ""}: ${told.error ?? "answered"}`);
  if (told.error !== "rate-limited") {
    return result;
  }
  await sleep(told.retry_after_s * 1_000);
  return call(tool, args);
}

async function bid(terms) {
  const args = { kind: "vm", ...terms };
  const preview = await call("bid_write", { ...args, phase: "preview" });
  const { confirm_token } = preview.structuredContent;
  const confirmed = await call("bid_write", { ...args, phase: "confirm", confirm_token });
  assert.notEqual(confirmed.isError, true, JSON.stringify(confirmed));
  return confirmed.structuredContent;
}

/** The name in `<name>`; undefined for everything else. */
function name(value) {
  return typeof value === "string" ? value.match(/^<(\w+)>$/)?.[1] : undefined;
}

/** Arguments with what the names in them stand for. */
function filled(value) {
  if (name(value)) {
    assert.ok(known.has(name(value)), `nothing told what ${value} is`);
    return known.get(name(value));
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, filled(each)]));
}

/** Whether a value has at least what is wanted of it; of a list, one entry for each that is wanted, or none. */
function holds(wanted, actual) {
  if (wanted === "…") {
    return actual !== null && actual !== undefined;
  }
  if (name(wanted)) {
    return isToken(name(wanted)) ? actual !== null && actual !== undefined : actual === known.get(name(wanted));
  }
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) &&
      (wanted.length > 0 || actual.length === 0) &&
      wanted.every((each) => actual.some((one) => holds(each, one)))
    );
  }
  if (wanted !== null && typeof wanted === "object") {
    return actual !== null && typeof actual === "object" && Object.entries(wanted).every(([k, v]) => holds(v, actual[k]));
  }
  return wanted === actual;
}

/** What an answer may tell anew; any other name, once it is known, has to be told the same. */
function isToken(called) {
  return !known.has(called) || ["cursor", "confirm_token", "version", "next_version"].includes(called);
}

/** Remembers what the names in `wanted` are in an answer that holds them. */
function learn(wanted, actual) {
  if (name(wanted)) {
    known.set(name(wanted), actual);
  } else if (Array.isArray(wanted)) {
    wanted.forEach((each) => learn(each, actual.find((one) => holds(each, one))));
  } else if (wanted !== null && typeof wanted === "object") {
    Object.entries(wanted).forEach(([field, each]) => learn(each, actual[field]));
  }
}
