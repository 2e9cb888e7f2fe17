package dev.bourse.doctor;

import dev.bourse.blob.s3.S3Config;
import dev.bourse.blob.s3.S3Probe;
import dev.bourse.mail.MailConfig;
import dev.bourse.mail.SmtpProbe;
import dev.bourse.nodes.SshConfig;
import dev.bourse.nodes.SshNodes;
import dev.bourse.org.ScimConfig;
import dev.bourse.org.ScimProbe;
import dev.bourse.signin.OidcProbe;
import dev.bourse.signin.SignInConfig;
import java.time.Clock;
import java.time.Duration;
import java.util.OptionalLong;

/** Checks that the servers named in the settings are reachable and usable. */
public final class ServerChecks {
  private final Clock clock;
  private final Duration timeout;

  /**
   * @param timeout of one connection or answer, for servers without a time-out setting of their own
   */
  public ServerChecks(Clock clock, Duration timeout) {
    this.clock = clock;
    this.timeout = timeout;
  }

  /** Checks an object store. */
  public Check objects(String name, S3Config store) {
    return new Check(
        name,
        notes -> {
          OptionalLong ahead = S3Probe.look(store, clock);
          notes.see(store.name() + " can list, write, read and delete an object");
          ahead.ifPresent(millis -> ClockGap.note(notes, millis));
        });
  }

  /** Checks the mail server. */
  public Check mail(MailConfig.Smtp server) {
    return new Check(
        "mail",
        "check mail.smtp.host, mail.smtp.port and mail.smtp.tls, and the network path",
        notes -> {
          SmtpProbe.Seen seen = SmtpProbe.look(server, (int) timeout.toMillis());
          notes.see("%s:%d greets: %s".formatted(server.host(), server.port(), seen.greeting()));
          notes.see(seen.isEncrypted() ? "TLS works" : "TLS is off, as set in mail.smtp.tls");
          if (server.user().isEmpty()) {
            return;
          }
          if (seen.offersLogin()) {
            notes.see("it offers a login, which was not tried");
          } else {
            notes.fault(
                "it offers no login, and mail.smtp.user is set",
                "clear mail.smtp.user, or set mail.smtp.port to the submission port, usually 587");
          }
        });
  }

  /** Checks the member directory. */
  public Check directory(ScimConfig directory) {
    return new Check(
        "directory",
        "check directory.scim.url and its token; until it works, rosters lack e-mail and name",
        notes -> {
          ScimProbe.look(directory);
          notes.see(directory.url() + " answers a query for a member");
        });
  }

  /** Checks the identity provider that members sign in with. */
  public Check provider(SignInConfig.Oidc provider) {
    return new Check(
        "identity provider",
        "check signin.oidc.issuer; until it works, members sign in by mail only",
        notes -> {
          int keys = OidcProbe.look(provider, timeout);
          notes.see(
              "%s publishes its metadata and %d signing key(s)".formatted(provider.issuer(), keys));
        });
  }

  /** Checks the ssh key for logging in to nodes; the nodes themselves are on the status screen. */
  public static Check machines(SshConfig ssh) {
    return new Check(
        "machines",
        "set nodes.ssh.identity-file to a private key without a passphrase that the service's"
            + " user may read",
        notes -> {
          SshNodes.checkIdentity(ssh);
          notes.see(ssh.identityFile() + " contains a usable key");
          if (!ssh.hasOwnIds()) {
            notes.warn(
                "nodes.ssh.own-ids is false: a process that survives a reclaim can read the next"
                    + " tenant's files",
                "set it to true, or reimage machines between tenants");
          }
        });
  }
}
