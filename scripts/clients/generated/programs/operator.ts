// Every organization, a page at a time, and a switch.
import createClient from "openapi-fetch";
import type { components, paths } from "contracts/operator";

export async function organizations(baseUrl: string, token: string): Promise<components["schemas"]["Org"][]> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const all: components["schemas"]["Org"][] = [];
  for (let after: string | undefined; ; ) {
    const { data, error } = await client.GET("/api/operator/orgs", { params: { query: { after, limit: 500 } } });
    if (error) {
      throw new Error(error.detail ?? error.error);
    }
    all.push(...data.orgs);
    if (data.next === null) {
      break;
    }
    after = data.next;
  }
  await client.PATCH("/api/operator/switches", { body: { capacity_writes_armed: true } });
  return all;
}
