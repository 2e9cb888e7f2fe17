// The official TypeScript SDK's client at the MCP endpoint: connects, lists the tools, reads a resource,
// previews a bid and confirms it. Prints what it was told; ends non-zero at the first thing that is not
// as it should be.
//
//   node mcp-bid.mjs ENDPOINT TOKEN CLUSTER GPUS PRICE
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [endpoint, token, cluster, gpus, price] = process.argv.slice(2);
const client = new Client({ name: "bourse-smoke", version: "1" });
const transport = new StreamableHTTPClientTransport(new URL(endpoint), {
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

function shown(value) {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ");
}

async function call(name, args) {
  console.log(`> ${name} ${shown(args)}`);
  const result = await client.callTool({ name, arguments: args });
  const { state, ...rest } = result.structuredContent;
  const told = state ? { ...rest, state: { declared: state.declared, pending: state.pending } } : rest;
  console.log(`< ${result.isError ? "refused: " : ""}${shown(told)}`);
  return result;
}

await client.connect(transport);
console.log(`connected to ${client.getServerVersion().name}, revision ${transport.protocolVersion}`);

const { tools } = await client.listTools();
console.log(`tools: ${tools.map((tool) => tool.name).join(", ")}`);
assert.ok(tools.some((tool) => tool.name === "bid_write"));

const { resources } = await client.listResources();
const guide = await client.readResource({ uri: resources[0].uri });
assert.ok(guide.contents[0].text.startsWith("# Bourse"));
await client.ping();

const bid = {
  kind: "vm",
  cluster,
  max_gpus: Number(gpus),
  max_price_per_gpu_hour: Number(price),
};
const before = await client.callTool({ name: "capacity_read", arguments: { cluster } });
const preview = await call("bid_write", { ...bid, phase: "preview" });
assert.equal(preview.structuredContent.version, before.structuredContent.version);
const confirm = {
  ...bid,
  phase: "confirm",
  confirm_token: preview.structuredContent.confirm_token,
};
const confirmed = await call("bid_write", confirm);
assert.equal(confirmed.isError, false);

const after = await client.callTool({ name: "capacity_read", arguments: { cluster } });
assert.equal(after.structuredContent.declared.max_gpus, bid.max_gpus);
assert.equal(after.structuredContent.declared.max_price_per_gpu_hour, bid.max_price_per_gpu_hour);

const replayed = await call("bid_write", confirm);
assert.equal(replayed.isError, true);
assert.equal(replayed.structuredContent.error, "conflict");

await transport.terminateSession();
await client.close();
