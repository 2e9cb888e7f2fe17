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

/** One-time links, sent by mail, that sign their recipient in. */
public final class SignInLinks implements Invitations {
  private static final Logger LOG = LoggerFactory.getLogger(SignInLinks.class);

  /** The validity of a requested link; invitations have a validity of their own. */
  static final Duration VALIDITY = Mail.SIGN_IN;

  /** The time to choose among organizations. */
  static final Duration CHOICE = Duration.ofMinutes(10);

  /** Concurrent look-ups of addresses; further requests are dropped. */
  private static final int MAX_UNDER_WAY = 1_000;

  /**
   * Links in 15 minutes for addresses of one mail domain that belong to no member yet. Anybody can
   * invent any number of addresses in a domain that a rule admits, and each link would be mailed
   * and stored.
   */
  static final int STRANGERS_OF_DOMAIN = 200;

  /** The part of them for one network, so that it cannot use up the domain's share. */
  static final int STRANGERS_BY_CALLER = 50;

  /**
   * Invitations of an organization in 15 minutes: those of a whole department, and a fifth of the
   * mail queue's capacity, so that no organization blocks others' sign-in mails.
   */
  static final int INVITATIONS_OF_ORG = 200;

  /** Enough if a recipient deletes some of them unread, and few enough not to flood a mailbox. */
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
   * @param baseUrl the service's address for browsers; links never use an address from a request
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
   * The origin of a request for a link, which may be anybody.
   *
   * @param caller the network of the request
   * @param mark identifies the browser, {@link Sessions.Visitor#mark}
   * @param returnTo where the sign-in leads in that browser. In any other browser it leads to the
   *     account page; otherwise a stranger could send somebody a link to the stranger's own device
   *     code
   */
  record LinkRequest(String caller, String mark, String returnTo) {}

  /**
   * Mails a link to an address that some organization admits. Returns at once, because neither the
   * answer nor its time may reveal which addresses are known.
   */
  void request(String email, LinkRequest asking) {
    String address = Text.folded(email);
    if (!room.tryAcquire()) {
      LOG.warn(
          "a request for a sign-in link was dropped: {} look-ups are in progress", MAX_UNDER_WAY);
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
                        new LinkStore.Link(
                            address, null, "", asking.returnTo(), asking.mark(), null),
                        expiry(VALIDITY),
                        token -> signIn(address, token)))
        .onFailure(e -> LOG.warn("a sign-in link could not be created: {}", e.toString()))
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
  public Future<Void> send(Invitation invitation) {
    if (!Mail.isAddress(invitation.email())) {
      LOG.warn("the invitation to {} could not be mailed: invalid address", invitation.orgId());
      return Future.succeededFuture();
    }
    LinkStore.Link link =
        new LinkStore.Link(
            invitation.email(),
            invitation.orgId(),
            "",
            ReturnTo.ACCOUNT,
            null,
            invitation.inviter());
    return mail(link, invitation.expiresAtMillis(), token -> invitation(invitation, token));
  }

  /** Creates a link and mails it, in one commit if mails are stored. */
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
   * Creates a token for the choice of an organization by a person with an address that a provider
   * has proven. It can be used once, like a link, but is never mailed.
   */
  Future<String> choice(LinkStore.Link person) {
    String token = Secrets.next(random);
    return insert(token, person, expiry(CHOICE), List.of()).map(stored -> token);
  }

  /** The meaning of a token; empty when it is unknown, used or expired. */
  Future<Optional<LinkStore.Link>> find(String token) {
    return Secrets.isOne(token)
        ? store.find(Secrets.stored(token), clock.millis())
        : Future.succeededFuture(Optional.empty());
  }

  /** Marks a token used in the commit of the sign-in; see {@link LinkStore#spending}. */
  Statement markUsed(String token) {
    return LinkStore.markUsed(Secrets.stored(token), clock.millis());
  }

  /** Deletes expired rows, by confirmed time. */
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
            .formatted(url(token)),
        VALIDITY);
  }

  /**
   * The inviter is an address, which the member has proven, and not a name, which could say
   * anything.
   */
  private Mail invitation(Invitation invitation, String token) {
    String inviter = invitation.inviter();
    String display = Text.shown(invitation.display());
    String where =
        display.equals(invitation.orgId())
            ? display
            : "%s (%s)".formatted(display, invitation.orgId());
    return new Mail(
        invitation.email(),
        "Join %s on Bourse".formatted(display),
        """
        %s
        invited you to join the organization
        %s
        on Bourse, an exchange for GPU capacity. Open this link to accept:

        %s

        The link can be used once, within 3 days. If you did not expect this
        invitation, ignore this mail: you join nothing unless you open the link and
        confirm.
        """
            .formatted(
                inviter.isEmpty() ? "An operator of this service" : inviter, where, url(token)),
        Mail.LASTING);
  }
}
