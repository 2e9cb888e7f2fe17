// One message to the endpoint for language models.
import createClient from "openapi-fetch";
import type { paths } from "contracts/mcp";

export async function ping(baseUrl: string, token: string): Promise<boolean> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const { response } = await client.POST("/mcp", { body: { jsonrpc: "2.0", id: 1, method: "ping" } });
  return response.ok;
}
