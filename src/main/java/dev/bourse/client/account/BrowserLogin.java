package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Digests;
import dev.bourse.core.Ids;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Sign-in with the browser of this machine (RFC 8252): the service's page asks for consent and
 * redirects the browser to a local port with a code. Only the holder of the PKCE verifier can
 * redeem the code.
 */
final class BrowserLogin {
  /** The lifetime of a device code; signing in may involve a mail. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private static final Duration ANSWER = Duration.ofSeconds(30);

  /** 256 random bits in base 62. */
  private static final int STATE_LENGTH = 43;

  private static final int VERIFIER_LENGTH = 64;

  private final Service service;
  private final CommandEnvironment environment;
  private final PrintWriter out;
  private final String scope;
  private final Optional<CommandEnvironment.Browser> browser;

  /**
   * @param scope the requested scopes, separated by spaces
   * @param browser shows the page; without one the person opens it
   */
  BrowserLogin(
      Service service,
      CommandEnvironment environment,
      PrintWriter out,
      String scope,
      Optional<CommandEnvironment.Browser> browser) {
    this.service = service;
    this.environment = environment;
    this.out = out;
    this.scope = scope;
    this.browser = browser;
  }

  /**
   * Signs in for a profile; empty if the service does not support this for the command line, as
   * older services do not.
   */
  Optional<Account> run(SignInProfile profile) throws RefusedException {
    ServerMetadata metadata = ServerMetadata.discover(service);
    String state = Ids.base62(environment.random(), STATE_LENGTH);
    String verifier = Ids.base62(environment.random(), VERIFIER_LENGTH);
    try (LoopbackAnswer loopback = LoopbackAnswer.open(state)) {
      String page = page(metadata, loopback.address(), state, verifier);
      if (!isKnown(page)) {
        return Optional.empty();
      }
      show(page, loopback);
      Map<String, String> answer =
          loopback.await(environment, LIMIT).orElseThrow(BrowserLogin::unanswered);
      String code = code(metadata, answer);
      JsonObject tokens = redeem(metadata, loopback.address(), code, verifier);
      return Optional.of(metadata.account(profile).with(tokens, environment.clock().instant()));
    }
  }

  private String page(ServerMetadata metadata, String redirect, String state, String verifier) {
    byte[] digest = Digests.sha256(verifier.getBytes(StandardCharsets.US_ASCII));
    Map<String, String> asked = new LinkedHashMap<>();
    asked.put("response_type", "code");
    asked.put("client_id", ServerMetadata.CLIENT_ID);
    asked.put("redirect_uri", redirect);
    asked.put("scope", scope);
    asked.put("state", state);
    asked.put("resource", metadata.issuer());
    asked.put("code_challenge", Base64.getUrlEncoder().withoutPadding().encodeToString(digest));
    asked.put("code_challenge_method", "S256");
    return metadata.authorizationEndpoint()
        + asked.entrySet().stream()
            .map(field -> field.getKey() + '=' + Service.encoded(field.getValue()))
            .collect(Collectors.joining("&", "?", ""));
  }

  /**
   * Whether the page asks for consent or leads to the sign-in. An error should appear in the
   * terminal rather than in the browser, while the terminal waits.
   */
  private boolean isKnown(String page) throws RefusedException {
    Service.Request request = Service.Request.of("GET", page, Map.of("Accept", "text/html"));
    int status = service.open(request, BodyHandlers.discarding(), ANSWER).statusCode();
    if (status >= 500 || status == 429) {
      throw new RefusedException(
          ExitCode.UNAVAILABLE,
          "%s cannot sign anybody in now (status %d); try again"
              .formatted(service.baseUrl(), status));
    }
    return status < 400;
  }

  /**
   * Prints the whole address for a person who opens the page by hand; it is not passed to a
   * program.
   */
  private void show(String page, LoopbackAnswer loopback) {
    out.printf(
        "%s%n%n    %s%n%nWaiting for you to allow it there, for %d minutes at most.%n",
        browser.isPresent()
            ? "Your browser opens to sign you in; if it does not, open"
            : "To sign in, open in a browser of this computer",
        page,
        LIMIT.toMinutes());
    out.flush();
    browser.ifPresent(
        shown -> shown.show(loopback.door(Ids.base62(environment.random(), STATE_LENGTH), page)));
  }

  private static RefusedException unanswered() {
    return new RefusedException(
        ExitCode.REFUSED,
        "nobody allowed the sign-in within %d minutes; run bourse login again, or with --device to"
                .formatted(LIMIT.toMinutes())
            + " allow it in a browser elsewhere");
  }

  private static String code(ServerMetadata metadata, Map<String, String> answer)
      throws RefusedException {
    // RFC 9207: rejects the answer of another server.
    if (!metadata.issuer().equals(answer.get("iss"))) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "the answer is from %2$s instead of %1$s; nothing is stored"
              .formatted(metadata.issuer(), Text.shown(answer.getOrDefault("iss", "nobody"))));
    }
    String error = answer.getOrDefault("error", "");
    if (error.equals("access_denied")) {
      throw new RefusedException(ExitCode.REFUSED, "the sign-in was denied; nothing is stored");
    }
    String code = answer.getOrDefault("code", "");
    if (code.isEmpty()) {
      throw new RefusedException(
          ExitCode.REFUSED,
          Text.plain(
              "cannot sign in: " + error + ": " + answer.getOrDefault("error_description", "")));
    }
    return code;
  }

  private JsonObject redeem(ServerMetadata metadata, String redirect, String code, String verifier)
      throws RefusedException {
    // Not retried if the answer is lost, because a second use of the code would end the sign-in.
    ServerMetadata.Reply reply =
        ServerMetadata.ask(
            service,
            metadata.tokenEndpoint(),
            Map.of(
                "grant_type", "authorization_code",
                "client_id", ServerMetadata.CLIENT_ID,
                "code", code,
                "redirect_uri", redirect,
                "code_verifier", verifier));
    if (!reply.isDone() || reply.body().getString("access_token") == null) {
      throw reply.refused("cannot sign in");
    }
    return reply.body();
  }
}
