// What a member or an operator who is signed in asks of the interface beside the pages.
import assert from "node:assert/strict";

/**
 * A way to call with the session of `context`'s browser: method, path, and a body in JSON or bytes of `type`.
 *
 * @param {"console" | "operator"} kind whose session it is
 */
export async function asSignedIn(context, service, kind) {
  const session = await context.request.get(`${service}/api/${kind}/session`);
  assert(session.ok(), `${kind}: ${session.status()} ${await session.text()}`);
  const { csrf } = await session.json();
  return async function ask(method, path, body, type = "application/json") {
    const response = await context.request.fetch(service + path, {
      method,
      headers: { "X-CSRF-Token": csrf, Origin: service, ...(body === undefined ? {} : { "Content-Type": type }) },
      data: body,
    });
    const text = await response.text();
    assert(response.ok(), `${method} ${path}: ${response.status()} ${text}`);
    return response.headers()["content-type"]?.startsWith("application/json") ? JSON.parse(text) : text;
  };
}
