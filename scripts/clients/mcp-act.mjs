// A model that gets on by itself, played by the official TypeScript SDK's client: its bid is refused for want of an
// ssh key, it registers one, bids, waits for the node, and swaps it. Prints each call and its answer; ends non-zero at
// the first answer that is wrong.
//
//   node mcp-act.mjs ENDPOINT TOKEN CLUSTER PUBLIC_KEY
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { call } from "./lib/bid.mjs";

/** A node is there after a tick or two, and a swap takes as long again. */
const MOST_WAITS = 20;

const [endpoint, token, cluster, publicKey] = process.argv.slice(2);
const client = new Client({ name: "bourse-smoke", version: "1" });
const transport = new StreamableHTTPClientTransport(new URL(endpoint), {
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});
await client.connect(transport);

const key = { action: "add", name: "agent", public_key: publicKey };
const bid = { kind: "vm", cluster, max_gpus: 8, max_price_per_gpu_hour: 3.5 };

const refused = await call(client, "bid_write", { ...bid, phase: "preview" });
assert.equal(refused.structuredContent.error, "no-ssh-keys");
const [, remedy] = refused.content;
console.log(`  ${remedy.text}`);
assert.match(remedy.text, /^ssh_key_write with action=add/);
await write("ssh_key_write", key);
const { version } = await write("bid_write", bid);
const first = await node({ version });
await write("bid_write", { kind: "vm", action: "swap", cluster, node: first.address });
const second = await node({ cursor: first.cursor }, first.address);
assert.notEqual(second.address, first.address);
await transport.terminateSession();
await client.close();

/** Previews a write and confirms it; what the confirm told. */
async function write(tool, args) {
  const preview = await call(client, tool, { ...args, phase: "preview" });
  const { confirm_token } = preview.structuredContent;
  const confirmed = await call(client, tool, { ...args, phase: "confirm", confirm_token });
  assert.equal(confirmed.isError, false);
  return confirmed.structuredContent;
}

/** Waits until one node is active, and it is not that of `besides`. */
async function node(known, besides = undefined) {
  for (let i = 0; i < MOST_WAITS; i++) {
    const told = await client.callTool({ name: "capacity_read", arguments: { action: "wait", cluster, ...known } });
    const { state, activity, cursor, changed } = told.structuredContent;
    const [only, ...others] = state.allocations;
    const notes = activity.map(({ note }) => note);
    const nodes = state.allocations.map((one) => `${one.public_ip} ${one.state}`);
    console.log(`waited: changed ${changed}; ${notes.join(", ") || "nothing"} happened; nodes: ${nodes.join(", ") || "none"}`);
    if (others.length === 0 && only?.state === "active" && only.public_ip !== besides) {
      return { address: only.public_ip, cursor };
    }
    known = { cursor };
  }
  return assert.fail("no node came");
}
