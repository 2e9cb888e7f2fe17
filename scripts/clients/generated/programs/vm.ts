// Declares a node more at the price that would take it, and says what it costs.
import createClient from "openapi-fetch";
import type { components, paths } from "contracts/vm";

type Declaration = components["schemas"]["CapacityDeclaration"];

export async function raise(baseUrl: string, token: string): Promise<string> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const cluster = "acme-train";
  const { data: state, error } = await client.GET("/api/vm/capacity", { params: { query: { cluster } } });
  if (error) {
    // One type of error for every status.
    return error.reason === "budget" ? `wait ${error.retry_after_s ?? 1} s` : error.error;
  }
  const price: number | null = state.pool.admission_price_per_gpu_hour;
  const body: Declaration = {
    max_gpus: (state.declared?.max_gpus ?? 0) + state.gpus_per_node,
    max_price_per_gpu_hour: price ?? state.pool.reserve_price_per_gpu_hour,
    expected_version: state.version,
    cluster,
  };
  const written = await client.PUT("/api/vm/capacity", { body });
  return written.data ? `version ${written.data.version}` : (written.error.detail ?? "refused");
}

/** Every kind of node event by its own type. */
export function told(event: components["schemas"]["GrantEvent"] | components["schemas"]["ReclaimEvent"]): string {
  return "granted_at" in event ? `${event.public_ip} since ${event.granted_at}` : `${event.public_ip}: ${event.reason}`;
}
