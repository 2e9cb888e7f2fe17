package dev.bourse.client;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** Signing in without a browser at hand (RFC 8628): shows a code and waits for the permission. */
final class DeviceLogin {
  /** As what every service knows this command line, so that nothing has to be registered. */
  private static final String CLIENT_ID = "bourse-cli";

  /** What the commands here need, and no more. */
  private static final String SCOPE = "checkpoints:read checkpoints:write";

  /** RFC 8628, section 3.2: where the service names none. */
  private static final long INTERVAL_SECONDS = 5;

  /** RFC 8628, section 3.5. */
  private static final long SLOWER_SECONDS = 5;

  /** A service that cannot be reached is asked ever more seldom, down to this. */
  private static final long SELDOM_SECONDS = 60;

  /** However long the code lasts, nobody waits longer than this. */
  private static final long MAX_SECONDS = 3_600;

  private final Service service;
  private final CommandEnvironment surroundings;
  private final PrintWriter out;

  DeviceLogin(Service service, CommandEnvironment surroundings, PrintWriter out) {
    this.service = service;
    this.surroundings = surroundings;
    this.out = out;
  }

  /** Signs in. */
  Account run() throws Refused {
    ServerMetadata authority = ServerMetadata.discover(service);
    ServerMetadata.Reply begun =
        ServerMetadata.ask(
            service,
            authority.deviceEndpoint(),
            Map.of("client_id", CLIENT_ID, "scope", SCOPE, "resource", authority.issuer()));
    if (!begun.isDone()) {
      throw begun.refused("no sign-in at " + service.baseUrl());
    }
    show(begun.body());
    JsonObject tokens = poll(authority, begun.body());
    Account account =
        new Account(
            CLIENT_ID,
            authority.tokenEndpoint(),
            authority.revocationEndpoint(),
            null,
            Instant.EPOCH,
            null);
    return account.with(tokens, surroundings.clock().instant());
  }

  private void show(JsonObject begun) {
    String complete = begun.getString("verification_uri_complete", "");
    out.printf(
        "Open %s and type the code%n%n    %s%n%n",
        ServerMetadata.plain(begun.getString("verification_uri", "")),
        ServerMetadata.plain(begun.getString("user_code", "")));
    if (!complete.isEmpty()) {
      out.printf("or open %s%n", ServerMetadata.plain(complete));
    }
    out.printf(
        "Waiting for the answer; the code is good for %d minutes.%n",
        Math.max(1, lifeSeconds(begun) / 60));
    out.flush();
  }

  private static long lifeSeconds(JsonObject begun) {
    return Math.min(MAX_SECONDS, begun.getLong("expires_in", 600L));
  }

  private JsonObject poll(ServerMetadata authority, JsonObject begun) throws Refused {
    Instant end = surroundings.clock().instant().plusSeconds(lifeSeconds(begun));
    long interval = Math.max(1, begun.getLong("interval", INTERVAL_SECONDS));
    while (true) {
      pause(interval);
      if (surroundings.clock().instant().isAfter(end)) {
        throw expired();
      }
      ServerMetadata.Reply reply;
      try {
        reply =
            ServerMetadata.ask(
                service,
                authority.tokenEndpoint(),
                Map.of(
                    "grant_type",
                    ServerMetadata.DEVICE_GRANT,
                    "client_id",
                    CLIENT_ID,
                    "device_code",
                    begun.getString("device_code", "")));
      } catch (Refused e) {
        if (!e.isTransient()) {
          throw e;
        }
        interval = Math.min(SELDOM_SECONDS, interval * 2);
        continue;
      }
      if (reply.isDone()) {
        if (reply.body().getString("access_token") == null) {
          throw reply.refused("no token was given");
        }
        return reply.body();
      }
      interval = next(reply, interval);
    }
  }

  /** The seconds to the next try; throws where there is none. */
  private static long next(ServerMetadata.Reply reply, long interval) throws Refused {
    return switch (reply.error()) {
      case "authorization_pending" -> interval;
      case "slow_down" -> interval + SLOWER_SECONDS;
      case "access_denied" ->
          throw new Refused(ExitCode.REFUSED, "the sign-in was denied; nothing is stored");
      case "expired_token" -> throw expired();
      default -> {
        Refused refused = reply.refused("no sign-in");
        if (!refused.isTransient()) {
          throw refused;
        }
        yield Math.min(SELDOM_SECONDS, interval * 2);
      }
    };
  }

  private static Refused expired() {
    return new Refused(
        ExitCode.REFUSED, "nobody answered in time; run bourse login for another code");
  }

  private void pause(long seconds) throws Refused {
    try {
      surroundings.pause().until(Duration.ofSeconds(seconds));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Refused(ExitCode.UNAVAILABLE, "interrupted");
    }
  }
}
