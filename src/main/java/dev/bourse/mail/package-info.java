/**
 * Mail that leaves the service: {@link dev.bourse.mail.MailSender} takes a {@link
 * dev.bourse.mail.Mail}, over SMTP or, where no server is set, into a folder of {@code .eml} files.
 *
 * <p>Whoever sends mail does not wait for it: a server may take minutes to say that it is away.
 * Mails wait in a bounded queue and are tried again, further and further apart, for as long as the
 * links in them are of use. With a secret key the queue is a table ({@link
 * dev.bourse.mail.StoredMail}): the mail is stored, encrypted, in the commit of what it tells of,
 * and any process sends it, once or, when a process dies at it, twice. Without one it waits in
 * memory ({@link dev.bourse.mail.SmtpMail}) and is lost when the process ends first; the person
 * asks for another link. An address or a subject that could add a line to the headers is refused
 * when the mail is made, so that no way of sending it has to be trusted with that.
 *
 * <p>Rejected: a queue in the store that is not encrypted, which would keep links that sign people
 * in where backups keep them too.
 */
@NullMarked
package dev.bourse.mail;

import org.jspecify.annotations.NullMarked;
