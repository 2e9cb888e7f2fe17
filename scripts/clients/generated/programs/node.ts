// A node's report of its GPUs, as its agent sends it.
import createClient from "openapi-fetch";
import type { components, paths } from "contracts/node";

type Gpu = components["schemas"]["GpuReport"];
type Receipt = components["schemas"]["MetricsReceipt"];

export async function report(baseUrl: string, credential: string, gpus: Gpu[]): Promise<Receipt> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${credential}` } });
  const { data, error } = await client.POST("/api/node/metrics", { body: { gpus } });
  if (error) {
    throw new Error(error.detail ?? error.error);
  }
  return data;
}
