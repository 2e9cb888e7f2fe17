package dev.bourse.signin;

import dev.bourse.core.Secrets;
import dev.bourse.core.Text;
import dev.bourse.mail.Mail;
import dev.bourse.mail.MailSender;
import dev.bourse.org.Invitations;
import dev.bourse.org.Memberships;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One-time links, sent by mail, that sign their reader in. */
public final class SignInLinks implements Invitations {
  private static final Logger LOG = LoggerFactory.getLogger(SignInLinks.class);

  /** How long a link works that somebody asked for; invitations say their own time. */
  static final Duration VALIDITY = Duration.ofMinutes(15);

  /** How long somebody may take to choose among organizations. */
  static final Duration CHOICE = Duration.ofMinutes(10);

  /** Addresses that are looked up at a time; a request beyond it is dropped. */
  private static final int MAX_UNDER_WAY = 1_000;

  /**
   * Links in a quarter of an hour for addresses of one mail domain that are no member's yet. Of a
   * domain that a rule admits anybody can name any number, and each would be mailed and stored.
   */
  static final int STRANGERS_OF_DOMAIN = 200;

  /** How many of them one network may ask for, so that it cannot use up the domain's share. */
  static final int STRANGERS_BY_CALLER = 50;

  /**
   * Invitations of an organization in a quarter of an hour: a whole department's, and a fifth of
   * the mails that may wait for the mail server, so that none keeps others from signing in.
   */
  static final int INVITATIONS_OF_ORG = 200;

  /** Enough for whoever deletes them unread; nobody is to be flooded. */
  static final int INVITATIONS_TO_ADDRESS = 5;

  private final LinkStore store;
  private final Memberships memberships;
  private final MailSender mail;
  private final Supplier<String> baseUrl;
  private final Clock clock;
  private final RandomGenerator random;
  private final Semaphore room = new Semaphore(MAX_UNDER_WAY);
  private final AttemptLimiter strangersByCaller =
      new AttemptLimiter(
          STRANGERS_BY_CALLER, "links from one network for addresses that are no member's");
  private final AttemptLimiter strangers =
      new AttemptLimiter(
          STRANGERS_OF_DOMAIN, "links for a domain's addresses that are no member's");

  private final AttemptLimiter invitationsByOrg =
      new AttemptLimiter(INVITATIONS_OF_ORG, "invitations sent by one organization");
  private final AttemptLimiter invitationsByAddress =
      new AttemptLimiter(
          INVITATIONS_TO_ADDRESS, "invitations sent by one organization to the same address");

  /**
   * @param baseUrl what browsers call the service; links begin with it and with nothing a request
   *     says
   */
  public SignInLinks(
      Database database,
      Memberships memberships,
      MailSender mail,
      Supplier<String> baseUrl,
      Clock clock,
      RandomGenerator random) {
    this.store = new LinkStore(database);
    this.memberships = memberships;
    this.mail = mail;
    this.baseUrl = baseUrl;
    this.clock = clock;
    this.random = random;
  }

  /**
   * Who asks for a link, which may be anybody.
   *
   * @param caller the network they ask from
   * @param mark tells their browser, {@link Sessions.Visitor#mark}
   * @param returnTo where the sign-in is to lead in that browser. In any other one it leads to the
   *     account: else a stranger could have somebody mailed a link to the code of the stranger's
   *     own device
   */
  record Asking(String caller, String mark, String returnTo) {}

  /**
   * Mails a link to an address that some organization admits. Returns at once, for neither the
   * answer nor its time may show who is known here.
   */
  void request(String email, Asking asking) {
    String address = Text.folded(email);
    if (!room.tryAcquire()) {
      LOG.warn(
          "a request for a sign-in link was dropped: {} others are being looked up", MAX_UNDER_WAY);
      return;
    }
    memberships
        .find(address)
        .map(places -> counted(address, asking.caller(), places))
        .compose(
            places ->
                places.isEmpty()
                    ? Future.<Void>succeededFuture()
                    : mail(
                        new LinkStore.Link(address, null, "", asking.returnTo(), asking.mark()),
                        expiry(VALIDITY),
                        token -> signIn(address, token)))
        .onFailure(e -> LOG.warn("a sign-in link could not be made: {}", e.toString()))
        .onComplete(done -> room.release());
  }

  private List<Memberships.Membership> counted(
      String address, String caller, List<Memberships.Membership> places) {
    if (!places.isEmpty() && places.stream().allMatch(place -> place.username() == null)) {
      strangersByCaller.count(caller);
      strangers.count(address.substring(address.lastIndexOf('@') + 1));
    }
    return places;
  }

  @Override
  public void count(String orgId, String email) {
    invitationsByAddress.count(orgId + ' ' + email);
    invitationsByOrg.count(orgId);
  }

  @Override
  public Future<Void> send(String orgId, String email, long expiresAtMillis) {
    if (!Mail.isAddress(email)) {
      LOG.warn("an invitation to {} has an address that mail cannot be sent to", orgId);
      return Future.succeededFuture();
    }
    LinkStore.Link link = new LinkStore.Link(email, orgId, "", ReturnTo.ACCOUNT, null);
    return mail(link, expiresAtMillis, token -> invitation(orgId, email, token));
  }

  /** Makes a link and mails it: both, or neither where mails are stored. */
  private Future<Void> mail(LinkStore.Link link, long expiresAtMillis, Function<String, Mail> of) {
    String token = Secrets.next(random);
    return mail.send(of.apply(token), along -> insert(token, link, expiresAtMillis, along));
  }

  private Future<Void> insert(
      String token, LinkStore.Link link, long expiresAtMillis, List<Statement> along) {
    return store.insert(Secrets.stored(token), link, clock.millis(), expiresAtMillis, along);
  }

  private long expiry(Duration validity) {
    return clock.millis() + validity.toMillis();
  }

  /**
   * Makes a token for somebody whose address a provider has proven and who has to choose an
   * organization. It is used up like a link, but never mailed.
   */
  Future<String> choice(LinkStore.Link person) {
    String token = Secrets.next(random);
    return insert(token, person, expiry(CHOICE), List.of()).map(stored -> token);
  }

  /** What a token stands for; empty when it is unknown, used or too old. */
  Future<Optional<LinkStore.Link>> find(String token) {
    return Secrets.isOne(token)
        ? store.find(Secrets.stored(token), clock.millis())
        : Future.succeededFuture(Optional.empty());
  }

  /** Uses a token up in the commit of the sign-in; see {@link LinkStore#spending}. */
  Statement spending(String token) {
    return LinkStore.spending(Secrets.stored(token), clock.millis());
  }

  /** Deletes what is past its time, by confirmed time. */
  Future<Void> sweep(long now) {
    return store.sweep(now);
  }

  private String url(String token) {
    return baseUrl.get() + "/sign-in/link?token=" + token;
  }

  private Mail signIn(String address, String token) {
    return new Mail(
        address,
        "Sign in to Bourse",
        """
        Open this link to sign in to Bourse:

        %s

        The link can be used once, within 15 minutes. If you asked more than once,
        each link works. If you did not ask for it, ignore this mail: nobody is signed
        in unless somebody opens the link and confirms.
        """
            .formatted(url(token)));
  }

  private Mail invitation(String orgId, String address, String token) {
    return new Mail(
        address,
        "You are invited to Bourse",
        """
        You are invited to join the organization %s on Bourse, an exchange for GPU
        capacity. Open this link to accept:

        %s

        The link can be used once, within 3 days. If you did not expect this
        invitation, ignore this mail.
        """
            .formatted(orgId, url(token)));
  }
}
