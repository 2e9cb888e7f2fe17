package dev.bourse.mail;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifies an organization's members of a change by mail, in the commit of the change. */
public final class MemberMails {
  /** Members notified: a mail to each of thousands would help none of them. */
  private static final int MAX_TOLD = 20;

  private static final Logger LOG = LoggerFactory.getLogger(MemberMails.class);

  private final Database database;
  private final MailSender mail;

  public MemberMails(Database database, MailSender mail) {
    this.database = database;
    this.mail = mail;
  }

  /**
   * Commits statements together with mails about them; without the mails if the queue of mails is
   * full, because a switched-off receiver must not be called during an outage of the mail server.
   *
   * @param first the member notified first, as {@code member:<username>}
   */
  public Future<Void> commit(
      String orgId, String first, String subject, String text, List<Statement> statements) {
    return listAddresses(orgId, first)
        .compose(
            found ->
                commit(
                    found.stream()
                        .filter(Mail::isAddress)
                        .map(to -> new Mail(to, subject, text, Mail.LASTING))
                        .toList(),
                    mails -> {
                      List<Statement> all = new ArrayList<>(statements);
                      all.addAll(mails);
                      return database.commit(all);
                    }))
        .recover(
            failure -> {
              if (!(failure instanceof OutboxFullException)) {
                return Future.failedFuture(failure);
              }
              LOG.warn("members of {} are not notified by mail: {}", orgId, failure.getMessage());
              return database.commit(statements);
            });
  }

  private Future<Void> commit(List<Mail> mails, Function<List<Statement>, Future<Void>> commit) {
    return mails.isEmpty()
        ? commit.apply(List.of())
        : mail.send(
            mails.get(0),
            stored ->
                commit(
                    mails.subList(1, mails.size()),
                    others -> {
                      List<Statement> all = new ArrayList<>(stored);
                      all.addAll(others);
                      return commit.apply(all);
                    }));
  }

  /** Lists the addresses of members that are not suspended, with one member first. */
  private Future<List<String>> listAddresses(String orgId, String first) {
    return database.read(
        """
        SELECT username, email FROM member WHERE org_id = ? AND suspended_at IS NULL
        ORDER BY CASE WHEN 'member:' || username = ? THEN 0 ELSE 1 END, username LIMIT ?\
        """,
        List.of(orgId, first, MAX_TOLD),
        row -> row.text("email"));
  }
}
