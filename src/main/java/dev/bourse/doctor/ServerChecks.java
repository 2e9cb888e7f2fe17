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

/** Looks at the servers that the settings name: whether each is there, and would serve. */
public final class ServerChecks {
  private final Clock clock;
  private final Duration timeout;

  /**
   * @param timeout how long one connection or answer may take, for servers that have no time-out of
   *     their own
   */
  public ServerChecks(Clock clock, Duration timeout) {
    this.clock = clock;
    this.timeout = timeout;
  }

  /** A store of published bytes. */
  public Check objects(String name, S3Config store) {
    return new Check(
        name,
        notes -> {
          OptionalLong ahead = S3Probe.look(store, clock);
          notes.see(store.name() + " lists, takes, gives and deletes an object");
          ahead.ifPresent(millis -> ClockGap.note(notes, millis));
        });
  }

  /** The server that takes mail for others. */
  public Check mail(MailConfig.Smtp server) {
    return new Check(
        "mail",
        "see mail.smtp.host, mail.smtp.port and mail.smtp.tls, and what stands between",
        notes -> {
          SmtpProbe.Seen seen = SmtpProbe.look(server, (int) timeout.toMillis());
          notes.see("%s:%d greets: %s".formatted(server.host(), server.port(), seen.greeting()));
          notes.see(seen.isEncrypted() ? "TLS is spoken" : "TLS is off, as mail.smtp.tls says");
          if (server.user().isEmpty()) {
            return;
          }
          if (seen.takesLogIn()) {
            notes.see("it takes a log-in, which was not tried");
          } else {
            notes.fault(
                "it takes no log-in, and mail.smtp.user is set",
                "clear mail.smtp.user, or name the port for those who log in, usually 587");
          }
        });
  }

  /** The directory of members. */
  public Check directory(ScimConfig directory) {
    return new Check(
        "directory",
        "see directory.scim.url and its token; rosters go without e-mail and name meanwhile",
        notes -> {
          ScimProbe.look(directory);
          notes.see(directory.url() + " answers a question about a member");
        });
  }

  /** The provider that members sign in by. */
  public Check provider(SignInConfig.Oidc provider) {
    return new Check(
        "identity provider",
        "see signin.oidc.issuer; until then members sign in by mail alone",
        notes -> {
          int keys = OidcProbe.look(provider, timeout);
          notes.see(
              "%s describes itself and signs with %d key(s)".formatted(provider.issuer(), keys));
        });
  }

  /** What machines are logged in to with; the machines themselves are on the status screen. */
  public static Check machines(SshConfig ssh) {
    return new Check(
        "machines",
        "have nodes.ssh.identity-file name a private key without a passphrase that the service's"
            + " user may read",
        notes -> {
          SshNodes.checkIdentity(ssh);
          notes.see(ssh.identityFile() + " holds a key that can be used");
          if (!ssh.hasOwnIds()) {
            notes.warn(
                "nodes.ssh.own-ids is false: a process that survives a reclaim can read the next"
                    + " tenant's files",
                "set it to true, or reimage machines between tenants");
          }
        });
  }
}
