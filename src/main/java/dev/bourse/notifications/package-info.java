/**
 * Mails that tell members of events of their organization's clusters, if they chose to receive
 * them.
 *
 * <p>A member has one {@link dev.bourse.notifications.Pace} for each {@link
 * dev.bourse.notifications.MailKind}: at once, in a daily digest, or off. Nobody receives a mail
 * without a choice. Every member of an organization may read all its clusters, so a choice needs no
 * further right.
 *
 * <p>The events are the ones that webhooks send. One process reads the events since the last scan,
 * a page at a time and for all members, and writes a line for each member who chose it, in the
 * commit that stores how far it has read. A second step mails the lines that are due, and deletes
 * them in the commit that stores the mail. So a process that dies between two steps loses no event
 * and repeats none, and of two processes that do the same one commits. If the queue of mails is
 * full, the commit fails, and the next run tries again. Runs cost as much as there is news, and
 * nothing for members without any.
 *
 * <p>While the clock is in doubt, nothing is read or sent. Mails at once do not wait for a
 * confirmed clock, because a notice is over by then. Digests and the discarding of old events wait
 * for it, because a clock that is ahead would discard them.
 *
 * <p>Entries of one cluster are committed in the order of their ids, but entries of two clusters
 * are not. So the scan keeps a position for each cluster with news, until no commit of that time
 * can be open any more, and one number for everything before. Of the trail only settled entries are
 * read.
 *
 * <p>After some mails the next one at once waits ({@link dev.bourse.notifications.Pace}), and
 * contains all events until then. So a market that flaps causes a mail every ten minutes and not
 * one for each event. A change of a kind's pace moves no line: what was read before comes at the
 * former pace.
 *
 * <p>Each commit checks that the member still belongs to the organization, is not suspended, and
 * that the organization is not retired. A process of the previous release that removes a member
 * leaves the rows behind; they send nothing, and {@link dev.bourse.notifications.ChoiceStore}
 * deletes them.
 *
 * <p>Each mail has a link that ends all of them without a session ({@link
 * dev.bourse.notifications.UnsubscribeToken}, RFC 8058). Opening the link changes nothing, because
 * mail scanners open links too.
 *
 * <p>Rejected: a row for each member and event, written with the event, because each writer would
 * have to know all members; a position for each member and cluster, because each run would compare
 * all of them.
 */
@NullMarked
package dev.bourse.notifications;

import org.jspecify.annotations.NullMarked;
