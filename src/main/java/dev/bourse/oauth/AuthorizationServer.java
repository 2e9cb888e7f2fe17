package dev.bourse.oauth;

import dev.bourse.access.LimitStore;
import dev.bourse.access.MemberTokens;
import dev.bourse.access.Members;
import dev.bourse.access.Revocations;
import dev.bourse.access.SigningKeys;
import dev.bourse.edge.Operations;
import dev.bourse.pages.PageTemplates;
import dev.bourse.signin.ConnectedApplications;
import dev.bourse.signin.Sessions;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Assembles the authorization server. */
public final class AuthorizationServer {
  /** The lifetime of an authorization code. */
  public static final long CODE_MILLIS = Grants.CODE_MILLIS;

  /** The templates of its pages. */
  public static final List<String> TEMPLATES =
      List.of("consent", "device", "device-confirm", "message");

  /**
   * The services that issue and revoke members' tokens.
   *
   * @param keys sign the tokens
   * @param tokens issues and reads them
   * @param members checks whether a member may act
   * @param revocations records refused tokens
   */
  public record TokenIssuer(
      SigningKeys keys, MemberTokens tokens, Members members, Revocations revocations) {}

  private final SigningKeys keys;
  private final Supplier<String> baseUrl;
  private final ClientDocuments documents;
  private final ClientRegistry clients;
  private final Grants grants;
  private final GrantRevocation revocation;
  private final DeviceFlow devices;
  private final PublishingCredentials credentials;
  private final LimitStore limits;

  /**
   * @param baseUrl the service's address for clients; read when requests are served
   * @param random a cryptographic source
   */
  public AuthorizationServer(
      Vertx vertx,
      OAuthConfig config,
      Database database,
      TokenIssuer issuer,
      Supplier<String> baseUrl,
      Clock clock,
      RandomGenerator random) {
    this.keys = issuer.keys();
    this.baseUrl = baseUrl;
    documents = new ClientDocuments(vertx, new HttpClientOptions(), config, clock);
    clients = new ClientRegistry(database, documents, clock, random);
    GrantStore store = new GrantStore(database);
    revocation = new GrantRevocation(store, issuer.tokens(), issuer.revocations(), clock);
    grants =
        new Grants(database, store, revocation, issuer.tokens(), issuer.members(), clock, random);
    credentials =
        new PublishingCredentials(database, store, revocation, issuer.tokens(), clock, random);
    limits = new LimitStore(database);
    devices = new DeviceFlow(database, grants, clients, clock, random);
  }

  /**
   * Binds the operations.
   *
   * @param templates with all of {@link #TEMPLATES}
   */
  public void bind(Operations operations, Sessions sessions, PageTemplates templates) {
    new AuthorizeRoutes(clients, grants, sessions, templates, baseUrl).bind(operations);
    new DeviceRoutes(devices, sessions, templates).bind(operations);
    new OAuthTokenRoutes(clients, grants, revocation, devices, baseUrl).bind(operations);
    new MetadataRoutes(keys, baseUrl).bind(operations);
    new CredentialRoutes(credentials, limits, sessions).bind(operations);
  }

  /** The members' grants, for their account page. */
  public ConnectedApplications applications() {
    return revocation;
  }

  /**
   * Deletes expired codes, grants and applications.
   *
   * @param now confirmed time
   * @return false, because one run deletes all of them
   */
  public Future<Boolean> sweep(long now) {
    return grants.sweep(now);
  }

  /**
   * Ends publishing credentials whose node is reclaimed.
   *
   * @return whether there are more
   */
  public Future<Boolean> endCredentials() {
    return credentials.endWithNodes();
  }

  /** Closes connections. */
  public Future<Void> close() {
    return documents.close();
  }
}
