/**
 * Mails that tell members of events of their organization's clusters, if they chose to receive
 * them.
 *
 * <p>A member has one {@link dev.bourse.notifications.Pace} for each {@link
 * dev.bourse.notifications.MailKind}: at once, in a daily digest, or off. Nobody receives a mail
 * without a choice. Every member of an organization may read all its clusters, so a choice needs no
 * further right.
 *
 * <p>The events are the ones that webhooks send. {@link dev.bourse.notifications.NotificationMails}
 * reads activity and trail from the stored position of each member and pace, and stores the mail in
 * the commit that advances the position. So a process that dies between two steps loses no event
 * and repeats none, and of two processes that read the same events one commits. If the queue of
 * mails is full, the commit fails, and the next run tries again.
 *
 * <p>After a mail the next one of the same pace waits, and contains all events until then. So a
 * market that flaps causes a mail every ten minutes and not one for each event, and a digest is the
 * same mail with a longer pause.
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
 * have to know all members; a cursor for each organization, because members with a digest are a day
 * behind the others.
 */
@NullMarked
package dev.bourse.notifications;

import org.jspecify.annotations.NullMarked;
