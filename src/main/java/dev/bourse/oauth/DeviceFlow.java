package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.core.SecretPrefix;
import dev.bourse.core.Secrets;
import dev.bourse.signin.Session;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The device authorization grant, for programs without a browser (RFC 8628). */
final class DeviceFlow {
  static final long LIFE_MILLIS = Duration.ofMinutes(10).toMillis();
  static final long INTERVAL_MILLIS = Duration.ofSeconds(5).toMillis();

  /** RFC 8628, section 3.5: the interval of a client that polls too fast grows by 5 seconds. */
  private static final long SLOWER_MILLIS = Duration.ofSeconds(5).toMillis();

  private static final long SLOWEST_MILLIS = Duration.ofMinutes(1).toMillis();

  /** Milliseconds by which a poll may come early, because timers of clients are not exact. */
  private static final long EARLY_MILLIS = 500;

  /** Without vowels, so that no code is a word; 20 to the power of 8 are 34 bits. */
  private static final String ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";

  private static final int CODE_LENGTH = 8;

  /** The prefix of device codes, by which scanners find leaked ones. */
  private static final String CODE_PREFIX = SecretPrefix.DEVICE_CODE.text();

  /**
   * Devices of the last day, some 300 bytes each. A further one deletes the oldest, because anybody
   * may request codes, from many addresses.
   */
  private static final int MAX_DEVICES = 20_000;

  private static final String PENDING = "pending";
  private static final String ALLOWED = "allowed";
  private static final String DENIED = "denied";

  /** The member decides after the program has stopped polling. */
  private static final class DecisionTooLateException extends RuntimeException {
    DecisionTooLateException() {
      super("the program does not wait any more", null, false, false);
    }
  }

  private static final Columns<Device> DEVICE =
      Columns.<Device>of("oauth_device")
          .fixed("device_sha256", Device::sha256)
          .fixed("user_code", Device::userCode)
          .fixed("client_id", Device::clientId)
          .fixed("scopes", device -> Scope.text(device.scopes()))
          .fixed("resource", Device::resource)
          .changing("state", Device::state)
          .changing("grant_id", Device::grantId)
          .fixed("created_at", Device::createdAtMillis)
          .fixed("expires_at", Device::expiresAtMillis)
          .changing("next_poll_at", Device::nextPollAtMillis)
          .changing("interval_millis", Device::intervalMillis);

  private final Database database;
  private final Grants grants;
  private final ClientRegistry clients;
  private final Clock clock;
  private final RandomGenerator random;

  DeviceFlow(
      Database database,
      Grants grants,
      ClientRegistry clients,
      Clock clock,
      RandomGenerator random) {
    this.database = database;
    this.grants = grants;
    this.clients = clients;
    this.clock = clock;
    this.random = random;
  }

  /** The code that a program shows, and the one it polls with. */
  record DeviceCodes(String deviceCode, String userCode) {}

  /** A device request that waits for a member. */
  record PendingDevice(String userCode, Client client, Set<Scope> scopes, String resource) {}

  private record Device(
      String sha256,
      String userCode,
      String clientId,
      Set<Scope> scopes,
      String resource,
      String state,
      @Nullable String grantId,
      long createdAtMillis,
      long expiresAtMillis,
      long nextPollAtMillis,
      long intervalMillis) {}

  /** Starts a device request. */
  Future<DeviceCodes> begin(Client client, Set<Scope> scopes, String resource) {
    client.require(Client.DEVICE);
    String deviceCode = CODE_PREFIX + Secrets.next(random);
    StringBuilder userCode = new StringBuilder();
    for (int i = 0; i < CODE_LENGTH; i++) {
      userCode.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    userCode.insert(CODE_LENGTH / 2, '-');
    long now = clock.millis();
    Statement makeRoom =
        Statement.of(
            """
            DELETE FROM oauth_device WHERE device_sha256 IN (SELECT device_sha256 FROM
            oauth_device ORDER BY expires_at DESC, device_sha256 LIMIT 100 OFFSET %d)\
            """
                .formatted(MAX_DEVICES - 1));
    Device device =
        new Device(
            Secrets.stored(deviceCode),
            userCode.toString(),
            client.clientId(),
            scopes,
            resource,
            PENDING,
            null,
            now,
            now + LIFE_MILLIS,
            now,
            INTERVAL_MILLIS);
    return database
        .commit(List.of(makeRoom, DEVICE.insert(device)))
        .map(new DeviceCodes(deviceCode, userCode.toString()));
  }

  /** The stored form of a typed code, in upper or lower case, with or without hyphen. */
  static String userCode(String typed) {
    // Other letters are removed first, because in upper case some of them become letters of the
    // alphabet.
    String letters =
        typed
            .replaceAll("[^A-Za-z]", "")
            .toUpperCase(Locale.ROOT)
            .replaceAll("[^" + ALPHABET + "]", "");
    return letters.length() == CODE_LENGTH
        ? letters.substring(0, CODE_LENGTH / 2) + '-' + letters.substring(CODE_LENGTH / 2)
        : "";
  }

  /**
   * Finds the pending request with this code.
   *
   * @param caller like in {@link ClientRegistry#find}
   */
  Future<Optional<PendingDevice>> find(String typed, String caller) {
    String userCode = userCode(typed);
    if (userCode.isEmpty()) {
      return Future.succeededFuture(Optional.empty());
    }
    return read("user_code", userCode)
        .compose(
            found -> {
              Optional<Device> waiting =
                  found
                      .filter(device -> device.state().equals(PENDING))
                      .filter(device -> clock.millis() < device.expiresAtMillis());
              if (waiting.isEmpty()) {
                return Future.succeededFuture(Optional.empty());
              }
              Device device = waiting.get();
              return clients
                  .find(device.clientId(), caller)
                  .map(
                      client ->
                          Optional.of(
                              new PendingDevice(
                                  userCode, client, device.scopes(), device.resource())));
            });
  }

  /**
   * Stores a member's decision; false if the request is no longer pending.
   *
   * @param limits the limits of the program's declarations if it is allowed
   */
  Future<Boolean> decide(
      Session session, PendingDevice waiting, boolean allowed, TokenLimits limits) {
    List<Statement> statements = new ArrayList<>();
    @Nullable String grantId = null;
    if (allowed) {
      Grant grant =
          grants.grant(
              session, waiting.client(), waiting.scopes(), waiting.resource(), LIFE_MILLIS, limits);
      statements.addAll(Grants.consented(grant, session));
      grantId = grant.grantId();
    }
    statements.add(
        Statement.guarded(
            DecisionTooLateException::new,
            """
            UPDATE oauth_device SET state = ?, grant_id = ?
            WHERE user_code = ? AND state = ? AND expires_at > ?\
            """,
            allowed ? ALLOWED : DENIED,
            grantId,
            waiting.userCode(),
            PENDING,
            clock.millis()));
    return database
        .commit(statements)
        .map(true)
        .recover(
            fault ->
                fault instanceof DecisionTooLateException
                    ? Future.succeededFuture(false)
                    : Future.failedFuture(fault));
  }

  /**
   * Issues tokens to a program after a member has allowed it; before that fails with {@link
   * OAuthException}.
   */
  Future<Grants.IssuedTokens> poll(Client client, String deviceCode) {
    client.require(Client.DEVICE);
    return read("device_sha256", Secrets.stored(deviceCode))
        .compose(
            found -> {
              Device device =
                  found
                      .filter(one -> one.clientId().equals(client.clientId()))
                      .orElseThrow(
                          () ->
                              new OAuthException(
                                  OAuthException.INVALID_GRANT, "the device code is unknown"));
              if (clock.millis() >= device.expiresAtMillis() && !device.state().equals("used")) {
                throw new OAuthException(
                    OAuthException.EXPIRED_TOKEN,
                    "the code has expired: no member answered in time");
              }
              if (device.grantId() != null) {
                // A second use ends the grant, as with an authorization code.
                return grants.begin(
                    device.grantId(),
                    Statement.guarded(
                        ReplayException::new,
                        """
                        UPDATE oauth_device SET state = 'used'
                        WHERE device_sha256 = ? AND state = ? AND expires_at > ?\
                        """,
                        device.sha256(),
                        ALLOWED,
                        clock.millis()));
              }
              if (device.state().equals(DENIED)) {
                throw new OAuthException(
                    OAuthException.ACCESS_DENIED, "the member denied the request");
              }
              return waitOn(device);
            });
  }

  private Future<Grants.IssuedTokens> waitOn(Device device) {
    long now = clock.millis();
    boolean isEarly = now + EARLY_MILLIS < device.nextPollAtMillis();
    long interval =
        isEarly
            ? Math.min(SLOWEST_MILLIS, device.intervalMillis() + SLOWER_MILLIS)
            : device.intervalMillis();
    return database
        .commit(
            List.of(
                Statement.of(
                    """
                    UPDATE oauth_device SET next_poll_at = ?, interval_millis = ?
                    WHERE device_sha256 = ?\
                    """,
                    now + interval,
                    interval,
                    device.sha256())))
        .compose(
            stored ->
                Future.failedFuture(
                    isEarly
                        ? new OAuthException(
                            OAuthException.SLOW_DOWN,
                            "wait %d seconds between two tries".formatted(interval / 1_000))
                        : new OAuthException(
                            OAuthException.AUTHORIZATION_PENDING,
                            "the member has not answered yet")));
  }

  private Future<Optional<Device>> read(String column, String value) {
    return database.readFirst(
        "SELECT %s FROM oauth_device WHERE %s = ?".formatted(DEVICE.names(), column),
        List.of(value),
        DeviceFlow::device);
  }

  private static Device device(Row row) {
    return new Device(
        row.text("device_sha256"),
        row.text("user_code"),
        row.text("client_id"),
        Scope.parse(row.text("scopes")),
        row.text("resource"),
        row.text("state"),
        row.textOrNull("grant_id"),
        row.integer("created_at"),
        row.integer("expires_at"),
        row.integer("next_poll_at"),
        row.integer("interval_millis"));
  }
}
