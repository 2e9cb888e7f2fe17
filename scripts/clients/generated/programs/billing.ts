// What every hour of usage has cost, page by page.
import createClient from "openapi-fetch";
import type { paths } from "contracts/billing";

export async function total(baseUrl: string, token: string): Promise<number> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  let micros = 0;
  for (let after: string | undefined; ; ) {
    const { data, error } = await client.GET("/api/billing/usage", { params: { query: { after } } });
    if (error) {
      throw new Error(error.detail ?? error.error);
    }
    data.lines.forEach((line) => (micros += line.amount_micros));
    if (data.next === null) {
      return micros;
    }
    after = data.next;
  }
}
