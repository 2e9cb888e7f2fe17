/**
 * The exchange as tools for language models, by the Model Context Protocol: {@code
 * openapi/mcp.yaml} is the authority.
 *
 * <p>{@link dev.bourse.mcp.McpRoutes} parses HTTP requests and identifies the caller; {@link
 * dev.bourse.mcp.McpService} answers one message by the rules of its revision ({@code
 * ProtocolRevision}, {@code StatelessRules}, {@code HandshakeSessions}); {@code ToolRegistry} finds
 * the tool and turns its answer or refusal into a result. A tool is one class that calls the
 * feature's service, never HTTP; its description, hints and schemas are in the contract under
 * {@code x-mcp-tools}. The edge supplies contracts, schemas and the reads of the HTTP API through
 * {@link dev.bourse.mcp.ServiceDescription} and {@link dev.bourse.mcp.RestReads}.
 *
 * <p>A write is previewed and confirmed: {@link dev.bourse.mcp.ConfirmTokens}. The only state
 * between two messages is used tokens and ended sessions, and those are rows, so that any process
 * on the same store answers any message.
 *
 * <p>Everything a model needs to continue has a tool, and a refusal names it ({@code Remedies}). A
 * file's bytes do not pass through messages: they go to an address, with no token. A wait for a
 * change ({@link dev.bourse.events.ChangeWaits}) ends when its client disconnects.
 *
 * <p>The market and the bill are tools of their own, though {@code grid_api} could read both: their
 * arguments have schemas, and a client's user can allow one without the other. A service without
 * checkpoints lacks their tools, so that no model plans with them.
 *
 * <p>Rejected: the protocol's Java library, which brings a server, a JSON mapper and reactive
 * streams of its own and does not know the newest revision; and streams of events, because all
 * answers here are single messages.
 */
@NullMarked
package dev.bourse.mcp;

import org.jspecify.annotations.NullMarked;
