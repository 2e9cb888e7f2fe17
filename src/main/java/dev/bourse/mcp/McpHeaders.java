package dev.bourse.mcp;

import java.util.Optional;

/**
 * The HTTP headers about a request's message.
 *
 * @param revision {@code MCP-Protocol-Version}
 * @param method {@code Mcp-Method}
 * @param name {@code Mcp-Name}
 * @param session {@code Mcp-Session-Id}
 */
record McpHeaders(
    Optional<String> revision,
    Optional<String> method,
    Optional<String> name,
    Optional<String> session) {}
