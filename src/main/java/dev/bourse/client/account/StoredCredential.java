package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.Credential;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The token stored by {@code bourse login}, which is renewed before it expires. */
final class StoredCredential implements Credential {
  /**
   * The remaining lifetime below which a token is renewed, because clocks differ and requests take
   * time.
   */
  private static final Duration MARGIN = Duration.ofSeconds(30);

  private final CredentialFile credentials;
  private final SignInProfile profile;
  private final CommandEnvironment environment;
  private final Service service;

  StoredCredential(
      CredentialFile credentials, SignInProfile profile, CommandEnvironment environment) {
    this.credentials = credentials;
    this.profile = profile;
    this.environment = environment;
    this.service = new Service(profile.url(), this);
  }

  @Override
  public String token() throws RefusedException {
    Account account = credentials.find(profile).filter(this::isOfProfile).orElse(null);
    if (account == null || account.accessToken() == null) {
      throw new RefusedException(
          ExitCode.USAGE,
          "you are not signed in at %s: run %s".formatted(profile.url(), profile.signIn()));
    }
    String token = account.accessToken();
    return isFresh(account) ? token : renewed(token);
  }

  /** Another login may have moved the profile to another service since the command started. */
  private boolean isOfProfile(Account account) {
    return account.url() == null || account.url().equals(profile.url());
  }

  private boolean isFresh(Account account) {
    return environment.clock().instant().plus(MARGIN).isBefore(account.expiresAt());
  }

  @Override
  public boolean renew(String refused) throws RefusedException {
    return !renewed(refused).equals(refused);
  }

  @Override
  public String advice() {
    return "sign in again: " + profile.signIn();
  }

  /**
   * Returns a token other than {@code old}. A refresh token can be used once, and a second use
   * would end the sign-in, so one command at a time renews, and the others read the result.
   */
  private String renewed(String old) throws RefusedException {
    String[] token = new String[1];
    boolean[] isOver = new boolean[1];
    credentials.update(
        profile,
        found -> {
          Account account = found.filter(this::isOfProfile).orElse(null);
          if (account == null || account.accessToken() == null) {
            isOver[0] = true;
            return null;
          }
          if (!account.accessToken().equals(old) && isFresh(account)) {
            token[0] = account.accessToken();
            return null;
          }
          Optional<Account> next = refresh(account);
          isOver[0] = next.isEmpty();
          token[0] = next.map(Account::accessToken).orElse(null);
          return next.orElseGet(account::signedOut);
        });
    @Nullable String got = token[0];
    if (isOver[0] || got == null) {
      throw new RefusedException(
          ExitCode.REFUSED, "the sign-in at %s has ended; %s".formatted(profile.url(), advice()));
    }
    return got;
  }

  /** Renews an account; empty when the service reports that it has ended. */
  private Optional<Account> refresh(Account account) throws RefusedException {
    if (account.refreshToken() == null) {
      return Optional.empty();
    }
    // Not retried if the answer is lost, because a second use would look like a theft.
    ServerMetadata.Reply reply =
        ServerMetadata.ask(
            service,
            account.tokenEndpoint(),
            Map.of(
                "grant_type", ServerMetadata.REFRESH_GRANT,
                "client_id", account.clientId(),
                "refresh_token", account.refreshToken()));
    if (reply.isDone() && reply.body().getString("access_token") != null) {
      Instant now = environment.clock().instant();
      return Optional.of(account.with(reply.body(), now));
    }
    if (reply.error().equals("invalid_grant") || reply.error().equals("invalid_client")) {
      return Optional.empty();
    }
    throw reply.refused("the sign-in could not be renewed");
  }
}
