// Bids for two nodes of the first cluster that has no bid.
import createClient from "openapi-fetch";
import type { components, paths } from "contracts/k8s";

export async function bid(baseUrl: string, token: string): Promise<components["schemas"]["BidTerms"] | null> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const page = await client.GET("/api/k8s/clusters", { params: { query: { limit: 10 } } });
  for (const { cluster, version, gpus_per_node } of page.data?.clusters ?? []) {
    const read = await client.GET("/api/k8s/clusters/{name}", { params: { path: { name: cluster } } });
    if (read.data && read.data.bid === null) {
      const written = await client.PUT("/api/k8s/bid", {
        body: {
          cluster,
          limit_price_per_gpu_hour: read.data.pool.max_price_cap_per_gpu_hour,
          max_gpus: 2 * gpus_per_node,
          expected_version: version,
        },
      });
      return written.data?.bid ?? null;
    }
  }
  return null;
}
