// The official TypeScript SDK's client at the MCP endpoint: connects, lists the tools, reads a resource,
// previews a bid and confirms it. Prints what it was told; ends non-zero at the first thing that is not
// as it should be.
//
//   node mcp-bid.mjs ENDPOINT TOKEN CLUSTER GPUS PRICE
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { bidOnce } from "./lib/bid.mjs";

const [endpoint, token, cluster, gpus, price] = process.argv.slice(2);
const client = new Client({ name: "bourse-smoke", version: "1" });
const transport = new StreamableHTTPClientTransport(new URL(endpoint), {
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

await client.connect(transport);
console.log(`connected to ${client.getServerVersion().name}, revision ${transport.protocolVersion}`);
await bidOnce(client, {
  kind: "vm",
  cluster,
  max_gpus: Number(gpus),
  max_price_per_gpu_hour: Number(price),
});
await transport.terminateSession();
await client.close();
