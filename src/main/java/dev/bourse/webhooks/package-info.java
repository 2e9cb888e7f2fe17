/**
 * Webhooks: an organization registers endpoints, and the service posts its events to them, signed
 * as the Standard Webhooks specification requires.
 *
 * <p>The outbox is data that is stored anyway. The activity of clusters and the trails of
 * organizations are written in the commits of the changes that they describe, and numbered; {@link
 * dev.bourse.webhooks.WebhookDispatcher} reads each from a cursor, and creates deliveries in the
 * commit that advances the cursor. So a crash loses nothing, and clusters of organizations without
 * endpoints cost nothing. The silence of a node is in the trail, although it is about a cluster:
 * the market's process detects it, and only a cluster's owner writes its activity. Entries of one
 * cluster are committed in the order of their ids; of a trail only settled entries are read, so
 * that no late row is skipped. The finality of a month's statement follows from the progress of
 * usage posting ({@link dev.bourse.billing.FinalMonths}); there the cursor is a month, and a month
 * that becomes final a second time, after a clock was set back, is not reported again.
 *
 * <p>The pending events of one endpoint from one cluster, or from the organization, form a queue:
 * its first event is tried until it is delivered or given up, with the same id each time, and only
 * then the next. The engine of {@code delivery} chooses the next queue and the time of each retry.
 * A delivery that fails for the whole retry period, an answer 410, or too many pending events
 * switch the endpoint off, and members are notified by mail.
 *
 * <p>One process of a store delivers, by a lease. Its successor continues where it stopped, and may
 * repeat the attempts that were in progress, with the same ids.
 *
 * <p>A test or a resend that a member requests is sent at once by the process that received the
 * request, which answers with the result; it is not queued, and tried once.
 *
 * <p>Deliveries keep the event as JSON. An endpoint for people ({@link
 * dev.bourse.webhooks.EndpointFormat#SLACK}) receives a sentence and a link instead, which each
 * attempt makes from it, so that both formats share queues, retries and signatures.
 *
 * <p>Each attempt checks the address with {@code outbound}. The secrets are encrypted rows of
 * {@code keyring}, so there are no webhooks without a secret key.
 *
 * <p>Rejected: writing deliveries in the originating commits (each would have to know the
 * endpoints); one queue per endpoint (an event of one cluster that a receiver cannot process would
 * block all others); a lease per organization (as many commits a minute as there are
 * organizations).
 */
@NullMarked
package dev.bourse.webhooks;

import org.jspecify.annotations.NullMarked;
