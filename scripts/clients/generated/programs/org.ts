// Who has changed what, newest first, and where the token reaches.
import createClient from "openapi-fetch";
import type { components, paths } from "contracts/org";

export async function trail(baseUrl: string, token: string): Promise<components["schemas"]["AuditEntry"][]> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const me = await client.GET("/api/whoami");
  const pools: (string | undefined)[] = me.data?.clusters.map((cluster) => cluster.pool?.pool) ?? [];
  const { data } = await client.GET("/api/org/activity", { params: { query: { limit: 50 } } });
  return data && pools.length > 0 ? data.entries : [];
}
