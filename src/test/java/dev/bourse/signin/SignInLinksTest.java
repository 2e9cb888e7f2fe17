package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Members;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.mail.Mail;
import dev.bourse.mail.MailSender;
import dev.bourse.org.Invitations;
import dev.bourse.org.Member;
import dev.bourse.org.Memberships;
import dev.bourse.org.RosterStore;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The validity of links, and their creation in the background. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SignInLinksTest extends StoreFixture {
  private final List<Mail> mails = new CopyOnWriteArrayList<>();
  private SignInLinks links;

  private final MailSender mail =
      new MailSender() {
        @Override
        public boolean send(Mail sent) {
          return mails.add(sent);
        }

        @Override
        public Future<Void> close() {
          return Future.succeededFuture();
        }
      };

  @BeforeEach
  void makeLinks() throws Exception {
    await(
        database.commit(
            List.of(
                RosterStore.insert(
                    Member.joining("acme", "alice", "Alice@acme.example", "A", clock.millis())))));
    links =
        new SignInLinks(
            database,
            new Memberships(database, new Members(new AccessStore(database)), clock),
            mail,
            () -> "https://bourse.example",
            clock,
            new Random(7));
  }

  private static final SignInLinks.LinkRequest ASKING =
      new SignInLinks.LinkRequest("192.0.2.1", "mark", "/account");

  /** Whether a token works; uses it up. */
  private boolean spend(String token) throws Exception {
    if (await(links.find(token)).isEmpty()) {
      return false;
    }
    await(database.commit(List.of(links.markUsed(token))));
    return true;
  }

  private String token() throws InterruptedException {
    eventually("a mail", () -> !mails.isEmpty());
    Matcher link =
        Pattern.compile("(?m)^https://bourse\\.example/sign-in/link\\?token=(\\w{43})$")
            .matcher(mails.get(0).text());
    assertTrue(link.find(), mails.get(0).text());
    return link.group(1);
  }

  @Test
  void aLinkWorksForFifteenMinutes() throws Exception {
    links.request("alice@ACME.example", ASKING);
    String token = token();
    clock.advance(Duration.ofMinutes(15).minusMillis(1).toMillis());
    assertTrue(await(links.find(token)).isPresent());
    clock.advance(Duration.ofMillis(1).toMillis());
    assertTrue(await(links.find(token)).isEmpty());
    assertFalse(spend(token));
  }

  @Test
  void throttledADomainsAddressesThatAreNoMembersAreMailedNoMoreThanSoOften() throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO join_rule (rule_id, org_id, kind, value, created_at, created_by,"
                        + " proven_at) VALUES ('jr_1', 'acme', 'domain', 'acme.example', 1,"
                        + " 'operator:o', 1)"))));
    for (int i = 0; i <= SignInLinks.STRANGERS_OF_DOMAIN; i++) {
      SignInLinks.LinkRequest asking =
          new SignInLinks.LinkRequest("192.0.2." + i % 5, "mark", "/account");
      links.request("stranger-" + i + "@acme.example", asking);
    }
    eventually("the mails", () -> mails.size() >= SignInLinks.STRANGERS_OF_DOMAIN);
    // A member of that domain is not blocked by them.
    links.request("alice@acme.example", ASKING);
    eventually("alice's", () -> mails.stream().anyMatch(one -> one.to().startsWith("alice@")));
    assertEquals(SignInLinks.STRANGERS_OF_DOMAIN + 1, mails.size());
  }

  @Test
  void nobodyAloneUsesUpWhatADomainJoinsWith() throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO join_rule (rule_id, org_id, kind, value, created_at, created_by,"
                        + " proven_at) VALUES ('jr_1', 'acme', 'domain', 'acme.example', 1,"
                        + " 'operator:o', 1)"))));
    for (int i = 0; i <= SignInLinks.STRANGERS_BY_CALLER; i++) {
      links.request("stranger-" + i + "@acme.example", ASKING);
    }
    eventually("the mails", () -> mails.size() >= SignInLinks.STRANGERS_BY_CALLER);
    links.request(
        "new@acme.example", new SignInLinks.LinkRequest("198.51.100.1", "mark", "/account"));
    eventually("theirs", () -> mails.stream().anyMatch(one -> one.to().startsWith("new@")));
    assertEquals(SignInLinks.STRANGERS_BY_CALLER + 1, mails.size());
  }

  @Test
  void invitationsWorkForThreeDays() throws Exception {
    long threeDays = Duration.ofDays(3).toMillis();
    await(
        links.send(
            new Invitations.Invitation(
                "acme", "Acme", "", "kim@elsewhere.example", clock.millis() + threeDays)));
    String token = token();
    clock.advance(Duration.ofMillis(threeDays - 1).toMillis());
    assertTrue(await(links.find(token)).isPresent());
    clock.advance(Duration.ofMillis(1).toMillis());
    assertFalse(spend(token));
  }

  @Test
  void timingOfUnknownEmailsNothingIsLookedUpBeforeTheAnswer() throws Exception {
    Promise<Void> later = Promise.promise();
    Future<Void> found = holdNextRead(later.future());
    // Returns before the store has answered, and reveals nothing.
    links.request("alice@acme.example", ASKING);
    await(found);
    assertEquals(List.of(), mails);
    later.complete();
    token();
  }

  @Test
  void whatIsStoredSignsNobodyIn() throws Exception {
    links.request("alice@acme.example", ASKING);
    String token = token();
    String stored = texts("SELECT link_sha256 FROM sign_in_link").get(0);
    assertEquals(64, stored.length());
    assertFalse(spend(stored));
    assertTrue(spend(token));
    assertFalse(spend(token));
  }

  @Test
  void linksPastTheirTimeAreDeleted() throws Exception {
    links.request("alice@acme.example", ASKING);
    token();
    await(links.sweep(clock.millis()));
    assertEquals(List.of(1L), integers("SELECT COUNT(*) FROM sign_in_link"));
    clock.advance(Duration.ofMinutes(15).toMillis());
    await(links.sweep(clock.millis()));
    assertEquals(List.of(0L), integers("SELECT COUNT(*) FROM sign_in_link"));
  }
}
