// The sign-in page, as a program that checks on it would get it.
import createClient from "openapi-fetch";
import type { paths } from "contracts/console";

export async function page(baseUrl: string): Promise<string> {
  const client = createClient<paths>({ baseUrl });
  const { data, error } = await client.GET("/sign-in", { parseAs: "text", headers: { Accept: "text/html" } });
  return data ?? JSON.stringify(error);
}
