/**
 * Outgoing mail: a {@link dev.bourse.mail.MailSender} sends a {@link dev.bourse.mail.Mail} over
 * SMTP or, where no server is set, writes it into a folder of {@code .eml} files.
 *
 * <p>Callers do not wait for delivery, because an unreachable server may take minutes to time out.
 * Mails wait in a bounded queue ({@link dev.bourse.mail.SmtpQueue}), and the engine of {@code
 * delivery} sends them and retries them with growing delays while they are of use: a sign-in link
 * for as long as it is valid, any other mail for almost a day. With a secret key the queue is a
 * table ({@link dev.bourse.mail.StoredMail}): a mail is stored, encrypted, in the commit of the
 * change it is about, and any process sends it, once or, if a process dies while sending, twice.
 * Without a key it waits in memory ({@link dev.bourse.mail.SmtpMail}) and is lost if the process
 * ends first; the person requests another link. {@link dev.bourse.mail.MemberMails} notifies the
 * members of an organization in the commit of a change. Other mails than sign-in links fill half of
 * the queue at most, so that links find room. {@link dev.bourse.mail.Mail} rejects an address or a
 * subject that could inject a header, so that the senders need not check it.
 *
 * <p>Rejected: a queue in the store without encryption, because backups would contain links that
 * sign people in.
 */
@NullMarked
package dev.bourse.mail;

import org.jspecify.annotations.NullMarked;
