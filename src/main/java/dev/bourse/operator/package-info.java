/**
 * The operators' interface: operations on organizations, clusters, pools and nodes, over HTTP with
 * an operator's token.
 *
 * <p>Only routes live here, a class for each noun of the contract; they call the features'
 * services, so that a rule holds for every caller. Every change leaves an audit row in its own
 * commit: in the organization's trail if it is about an organization, otherwise in the platform's
 * ({@link dev.bourse.audit.Trails}).
 *
 * <p>Rejected: a port of its own (an operator's token is a credential like any other, and a proxy
 * can keep {@code /api/operator} internal), and editing the world file of a running service (two
 * sources of truth).
 */
@NullMarked
package dev.bourse.operator;

import org.jspecify.annotations.NullMarked;
