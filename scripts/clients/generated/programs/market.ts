// The cheapest pool in which a node could be had now.
import createClient from "openapi-fetch";
import type { components, paths } from "contracts/market";

type Pool = components["schemas"]["MarketPool"];

export async function cheapest(baseUrl: string, token: string): Promise<Pool | undefined> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const { data, error } = await client.GET("/api/market/feed");
  if (error) {
    throw new Error(error.detail ?? error.error);
  }
  const price = (pool: Pool): number => pool.admission_price_per_gpu_hour ?? Infinity;
  return data.pools.filter((pool) => pool.free_nodes > 0).sort((a, b) => price(a) - price(b))[0];
}
