package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** Sign-in without a browser at hand (RFC 8628): shows a code and waits for consent. */
final class DeviceLogin {
  /** RFC 8628, section 3.2: the default interval. */
  private static final long INTERVAL_SECONDS = 5;

  /** RFC 8628, section 3.5. */
  private static final long SLOWER_SECONDS = 5;

  /** The longest interval between polls, even if the service asks for more or is unreachable. */
  private static final long SELDOM_SECONDS = 60;

  /** The longest wait, even if the code lasts longer. */
  private static final long MAX_SECONDS = 3_600;

  private final Service service;
  private final CommandEnvironment environment;
  private final PrintWriter out;
  private final String scope;

  /**
   * @param scope the requested scopes, separated by spaces
   */
  DeviceLogin(Service service, CommandEnvironment environment, PrintWriter out, String scope) {
    this.scope = scope;
    this.service = service;
    this.environment = environment;
    this.out = out;
  }

  /** Signs in for a profile. */
  Account run(SignInProfile profile) throws RefusedException {
    ServerMetadata metadata = ServerMetadata.discover(service);
    ServerMetadata.Reply begun =
        ServerMetadata.ask(
            service,
            metadata.deviceEndpoint(),
            Map.of(
                "client_id",
                ServerMetadata.CLIENT_ID,
                "scope",
                scope,
                "resource",
                metadata.issuer()));
    if (!begun.isDone()) {
      throw begun.refused("cannot sign in at " + service.baseUrl());
    }
    show(begun.body());
    JsonObject tokens = poll(metadata, begun.body());
    return metadata.account(profile).with(tokens, environment.clock().instant());
  }

  private void show(JsonObject begun) {
    String complete = begun.getString("verification_uri_complete", "");
    out.printf(
        "Open %s and enter the code%n%n    %s%n%n",
        Text.plain(begun.getString("verification_uri", "")),
        Text.plain(begun.getString("user_code", "")));
    if (!complete.isEmpty()) {
      out.printf("or open %s%n", Text.plain(complete));
    }
    out.printf(
        "Waiting for you to allow it; the code expires in %d minutes.%n",
        Math.max(1, lifeSeconds(begun) / 60));
    out.flush();
  }

  private static long lifeSeconds(JsonObject begun) {
    return Math.min(MAX_SECONDS, begun.getLong("expires_in", 600L));
  }

  private JsonObject poll(ServerMetadata metadata, JsonObject begun) throws RefusedException {
    Instant end = environment.clock().instant().plusSeconds(lifeSeconds(begun));
    // An absurd interval in the answer must not keep the terminal waiting.
    long interval =
        Math.min(SELDOM_SECONDS, Math.max(1, begun.getLong("interval", INTERVAL_SECONDS)));
    while (true) {
      environment.await(Duration.ofSeconds(interval));
      if (environment.clock().instant().isAfter(end)) {
        throw expired();
      }
      ServerMetadata.Reply reply;
      try {
        reply =
            ServerMetadata.ask(
                service,
                metadata.tokenEndpoint(),
                Map.of(
                    "grant_type",
                    ServerMetadata.DEVICE_GRANT,
                    "client_id",
                    ServerMetadata.CLIENT_ID,
                    "device_code",
                    begun.getString("device_code", "")));
      } catch (RefusedException e) {
        if (!e.isTransient()) {
          throw e;
        }
        interval = Math.min(SELDOM_SECONDS, interval * 2);
        continue;
      }
      if (reply.isDone()) {
        if (reply.body().getString("access_token") == null) {
          throw reply.refused("the service issued no token");
        }
        return reply.body();
      }
      interval = next(reply, interval);
    }
  }

  /** The seconds until the next poll; throws when polling is over. */
  private static long next(ServerMetadata.Reply reply, long interval) throws RefusedException {
    return switch (reply.error()) {
      case "authorization_pending" -> interval;
      case "slow_down" -> interval + SLOWER_SECONDS;
      case "access_denied" ->
          throw new RefusedException(ExitCode.REFUSED, "the sign-in was denied; nothing is stored");
      case "expired_token" -> throw expired();
      default -> {
        RefusedException refused = reply.refused("cannot sign in");
        if (!refused.isTransient()) {
          throw refused;
        }
        yield Math.min(SELDOM_SECONDS, interval * 2);
      }
    };
  }

  private static RefusedException expired() {
    return new RefusedException(
        ExitCode.REFUSED, "the code has expired; run bourse login again for another one");
  }
}
