// A conversation about a bid with the MCP endpoint, printed as it goes; used by who signs in and by who has a token.
import assert from "node:assert/strict";

function shown(value) {
  return JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ");
}

/** Calls a tool, and prints what was said and told. */
export async function call(client, name, args) {
  console.log(`> ${name} ${shown(args)}`);
  const result = await client.callTool({ name, arguments: args });
  const { state, ...rest } = result.structuredContent;
  const told = state ? { ...rest, state: { declared: state.declared, pending: state.pending } } : rest;
  console.log(`< ${result.isError ? "refused: " : ""}${shown(told)}`);
  return result;
}

/** The declaration of a cluster with its version, without the market's verdict, which any tick may change. */
export async function declared(client, cluster) {
  const read = await client.callTool({ name: "capacity_read", arguments: { cluster } });
  const { version, declared: standing } = read.structuredContent;
  const { bid_too_low, capacity_unavailable, ...terms } = standing ?? {};
  return { version, ...terms };
}

/** Lists the tools and reads a resource, previews the bid and confirms it, and once more in vain. */
export async function bidOnce(client, bid) {
  const { tools } = await client.listTools();
  console.log(`tools: ${tools.map((tool) => tool.name).join(", ")}`);
  assert.ok(tools.some((tool) => tool.name === "bid_write"));
  const { resources } = await client.listResources();
  const guide = await client.readResource({ uri: resources[0].uri });
  assert.ok(guide.contents[0].text.startsWith("# Bourse"));
  await client.ping();

  const before = await declared(client, bid.cluster);
  const preview = await call(client, "bid_write", { ...bid, phase: "preview" });
  assert.equal(preview.structuredContent.version, before.version);
  assert.deepEqual(await declared(client, bid.cluster), before);
  const confirm = {
    ...bid,
    phase: "confirm",
    confirm_token: preview.structuredContent.confirm_token,
  };
  const confirmed = await call(client, "bid_write", confirm);
  assert.equal(confirmed.isError, false);
  const after = await declared(client, bid.cluster);
  assert.equal(after.max_gpus, bid.max_gpus);
  assert.equal(after.max_price_per_gpu_hour, bid.max_price_per_gpu_hour);

  const replayed = await call(client, "bid_write", confirm);
  assert.equal(replayed.isError, true);
  assert.equal(replayed.structuredContent.error, "conflict");
  assert.deepEqual(await declared(client, bid.cluster), after);
}
