// Where the authorization server is, and a program's first step to a member's permission.
import createClient from "openapi-fetch";
import type { components, paths } from "contracts/oauth";

export async function begin(baseUrl: string, clientId: string): Promise<components["schemas"]["DeviceAuthorization"]> {
  const client = createClient<paths>({ baseUrl });
  const server = await client.GET("/.well-known/oauth-authorization-server");
  const { data, error } = await client.POST("/oauth/device_authorization", {
    body: { client_id: clientId, scope: "capacity:read" },
    bodySerializer: (form) => new URLSearchParams(form as Record<string, string>),
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  if (error || !server.data) {
    throw new Error(error?.error ?? "no server");
  }
  return data;
}
