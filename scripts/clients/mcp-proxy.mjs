// Passes requests on to an MCP endpoint with an access token added, for test suites that send none.
// Everything else goes through as it came: the Host and Origin headers too, which suites forge.
//
//   node mcp-proxy.mjs ENDPOINT TOKEN
//
// Prints the address it serves on, on a line of its own.
import http from "node:http";

const [endpoint, token] = process.argv.slice(2);
const target = new URL(endpoint);

const server = http.createServer((request, response) => {
  const passed = http.request(
    {
      hostname: target.hostname,
      port: target.port,
      path: request.url,
      method: request.method,
      headers: { ...request.headers, authorization: `Bearer ${token}` },
    },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  passed.on("error", (fault) => {
    response.writeHead(502);
    response.end(String(fault));
  });
  request.pipe(passed);
});

server.listen(0, "127.0.0.1", () => {
  console.log(`http://localhost:${server.address().port}${target.pathname}`);
});
