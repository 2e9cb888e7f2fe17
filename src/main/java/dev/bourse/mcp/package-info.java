/**
 * The exchange as tools for language models, by the Model Context Protocol: {@code
 * openapi/mcp.yaml} is the authority.
 *
 * <p>{@link dev.bourse.mcp.McpRoutes} takes HTTP requests apart and knows who calls; {@link
 * dev.bourse.mcp.McpService} answers one message by the rules of its revision ({@code
 * ProtocolRevision}, {@code StatelessRules}, {@code HandshakeSessions}); {@code Tools} finds the
 * tool and makes a result of what it answers or refuses. A tool is one class that calls the
 * feature's service, never HTTP; its words, hints and schemas stand in the contract under {@code
 * x-mcp-tools}. What the edge knows (contracts, schemas, the reads of the HTTP interface) comes in
 * through {@link dev.bourse.mcp.ServiceDescription} and {@link dev.bourse.mcp.RestReads}.
 *
 * <p>A write is previewed and confirmed: {@link dev.bourse.mcp.ConfirmTokens}. Nothing is kept
 * between two messages but which tokens were used and which sessions were ended, and those are
 * rows, so that any process on the same store answers any message.
 *
 * <p>What a model must do to get on is there, and a refusal names the tool for it ({@code
 * Remedies}). A file's bytes do not pass through messages: they go to an address, with no token. A
 * wait for a change ({@link dev.bourse.events.ChangeWaits}) ends when its client leaves.
 *
 * <p>The market and the bill are tools of their own, though {@code grid_api} could read both: their
 * arguments have schemas, and whoever runs a client can allow the one without the other. Of a
 * service without checkpoints their tools are absent, so that no model plans with them.
 *
 * <p>Rejected: the protocol's Java library, which brings a server, a JSON mapper and reactive
 * streams of its own and does not know the newest revision; streams of events, for no answer here
 * comes in parts.
 */
@NullMarked
package dev.bourse.mcp;

import org.jspecify.annotations.NullMarked;
