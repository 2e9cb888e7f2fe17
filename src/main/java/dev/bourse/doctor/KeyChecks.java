package dev.bourse.doctor;

import dev.bourse.access.AccessConfig;
import dev.bourse.access.SigningKeyAge;
import dev.bourse.edge.tls.ClientCertificates;
import dev.bourse.edge.tls.TlsConfig;
import dev.bourse.keyring.SecretConfig;
import dev.bourse.keyring.SecretExamination;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.nio.file.Files;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;

/** Checks that keys are the right ones, and their age. */
public final class KeyChecks {
  /** The threshold of the certificate alert: time for two attempts at renewal. */
  private static final Duration CERTIFICATE_SOON = Duration.ofDays(14);

  /** Keys rotate in an hourly job, which an unreachable store delays. */
  private static final Duration ROTATION_SLACK = Duration.ofDays(1);

  /** Tolerated clock skew between machines. */
  private static final Duration CLOCK_SLACK = Duration.ofMinutes(1);

  private final Callable<WholeStore> opening;
  private final Clock clock;

  /**
   * @param opening opens the store for inspection
   */
  public KeyChecks(Callable<WholeStore> opening, Clock clock) {
    this.opening = opening;
    this.clock = clock;
  }

  /**
   * Checks that the encrypted values of the store can be decrypted.
   *
   * @param withoutKey the warning about a missing key if several processes share the store;
   *     otherwise empty
   */
  public Check secretKey(SecretConfig secret, String withoutKey) {
    return new Check(
        "secret key",
        notes -> {
          noteAge(notes, secret);
          try (WholeStore store = opening.call()) {
            WholeStore.StoreExamination found = SecretExamination.of(store, secret.keyring());
            found.seen().forEach(notes::see);
            found.faults().forEach(fault -> notes.corrupt(fault, ""));
            if (secret.keyring().isEmpty() && found.faults().isEmpty()) {
              if (withoutKey.isEmpty()) {
                notes.skip("no key is set, and nothing is encrypted");
              } else {
                notes.warn(withoutKey, "give the same secret.key-file to all processes");
              }
            }
          }
        });
  }

  private void noteAge(Notes notes, SecretConfig secret) throws IOException {
    List<String> ids = List.copyOf(secret.keyring().ids());
    if (ids.isEmpty()) {
      return;
    }
    String age =
        secret.file().isPresent()
            ? ", in a file written "
                + ago(Files.getLastModifiedTime(secret.file().get()).toMillis())
            : "";
    if (ids.size() > 1) {
      notes.warn(
          "keys %s are set%s: a key rotation is in progress".formatted(String.join(", ", ids), age),
          "remove the old key when every readable value below is under the new one");
    } else {
      notes.see("key %s is set%s".formatted(ids.get(0), age));
    }
  }

  /** Checks that the keys that sign members' tokens are rotated in time. */
  public Check signingKeys(AccessConfig access) {
    return new Check(
        "signing keys",
        notes -> {
          try (WholeStore store = opening.call()) {
            OptionalLong newest = SigningKeyAge.newestMillis(store);
            if (newest.isEmpty()) {
              notes.skip("there is no key yet; the first start creates one");
              return;
            }
            long age = clock.millis() - newest.getAsLong();
            String seen = "the newest was created " + ago(newest.getAsLong());
            if (age < -CLOCK_SLACK.toMillis()) {
              notes.warn(
                  "the newest is dated %d s in the future".formatted(-age / 1_000),
                  "synchronize the clocks of all machines that serve this store by NTP");
            } else if (age > access.keyRotationMillis() + ROTATION_SLACK.toMillis()) {
              notes.warn(
                  seen + ", so its rotation is overdue",
                  "check that the service runs: it creates the next key within an hour");
            } else {
              notes.see(seen);
            }
          }
        });
  }

  private String ago(long atMillis) {
    long days = Duration.ofMillis(clock.millis() - atMillis).toDays();
    return days == 0 ? "today" : days == 1 ? "yesterday" : days + " days ago";
  }

  /**
   * Checks the expiry of the server's certificate and of the authorities of client certificates.
   *
   * @param clients the accepted client certificates of each port that requests them
   */
  public Check certificate(TlsConfig tls, List<ClientCertificates> clients) {
    return new Check(
        "certificate",
        notes -> {
          noteEnd(
              notes,
              tls.pair().toString(),
              tls.pair().end(),
              "so clients reject it",
              "renew it and write it to " + tls.certificate().path());
          for (ClientCertificates taken : clients) {
            for (X509Certificate authority : taken.authorities()) {
              Instant end = authority.getNotAfter().toInstant();
              noteEnd(
                  notes,
                  "%s trusts the authority %s, which expires %s"
                      .formatted(
                          taken.file().named(), authority.getSubjectX500Principal().getName(), end),
                  end,
                  "so its certificates are rejected",
                  "add the next one to %s, and remove this one when no client uses its"
                          .formatted(taken.file().path())
                      + " certificates");
            }
          }
        });
  }

  private void noteEnd(Notes notes, String seen, Instant end, String consequence, String step) {
    Instant now = clock.instant();
    if (!end.isAfter(now)) {
      notes.fault(seen + ", " + consequence, step);
    } else if (end.isBefore(now.plus(CERTIFICATE_SOON))) {
      notes.warn(seen + ", in less than %d days".formatted(CERTIFICATE_SOON.toDays()), step);
    } else {
      notes.see(seen);
    }
  }
}
