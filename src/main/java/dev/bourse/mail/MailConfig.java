package dev.bourse.mail;

import dev.bourse.core.Settings;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Settings of outgoing mail.
 *
 * @param from the sender's address
 * @param smtp the server; empty for files in the data folder
 */
public record MailConfig(String from, Optional<Smtp> smtp) {
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:-]{1,253}");

  /** Encryption of the connection. */
  public enum Security {
    /** Plain text until STARTTLS, which the server must offer. */
    STARTTLS,
    /** TLS from the first byte. */
    IMPLICIT,
    /** Plain text; for a relay on this machine. */
    NONE
  }

  /**
   * A mail relay.
   *
   * @param user empty for no login
   */
  public record Smtp(String host, int port, String user, String password, Security security) {}

  /** Reads the settings {@code mail.*}; faults are recorded in the settings. */
  public static MailConfig from(Settings settings) {
    String from = settings.text("mail.from", "bourse@localhost");
    if (!Mail.isAddress(from)) {
      settings.fault("mail.from", from, "an e-mail address");
      from = "bourse@localhost";
    }
    String host = settings.text("mail.smtp.host", "");
    int port = settings.integer("mail.smtp.port", 587, 1, 65_535);
    String user = settings.text("mail.smtp.user", "");
    String password = settings.text("mail.smtp.password", "");
    String tls = settings.text("mail.smtp.tls", "starttls");
    Security security =
        switch (tls) {
          case "implicit" -> Security.IMPLICIT;
          case "none" -> Security.NONE;
          case "starttls" -> Security.STARTTLS;
          default -> {
            settings.fault("mail.smtp.tls", tls, "starttls, implicit or none");
            yield Security.STARTTLS;
          }
        };
    if (!host.isEmpty() && !HOST.matcher(host).matches()) {
      settings.fault("mail.smtp.host", host, "a host name or an IP address");
    }
    if (user.isEmpty() != password.isEmpty()) {
      settings.fault("mail.smtp.user", user, "mail.smtp.password beside it, or neither");
    }
    if (!user.isEmpty() && security == Security.NONE) {
      settings.fault("mail.smtp.tls", tls, "starttls or implicit: a password must not be readable");
    }
    return new MailConfig(
        from,
        host.isEmpty()
            ? Optional.empty()
            : Optional.of(new Smtp(host, port, user, password, security)));
  }
}
