/**
 * The operators' interface: everything the platform's own people do to organizations, clusters,
 * pools and machines, over HTTP with an operator's token.
 *
 * <p>Only routes live here, a class for each noun of the contract; what they call are the features'
 * services, so that a rule holds whoever asks. Every change leaves an audit row in the change's own
 * commit: in the organization's trail when it is about the organization, in the platform's
 * otherwise ({@link dev.bourse.audit.Trails}).
 *
 * <p>Rejected: a port of its own (an operator's token is a credential like any other, and a proxy
 * can keep {@code /api/operator} inside), and editing the world file of a running service (two
 * truths).
 */
@NullMarked
package dev.bourse.operator;

import org.jspecify.annotations.NullMarked;
