package dev.bourse.simulation.hostile;

import dev.bourse.access.Scope;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.IdentityProvider;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Requests of browsers, of applications that act for members, and of models. */
final class MemberSamples {
  private final HostileTarget world;
  private final RunningBourse bourse;
  private final OAuthApplication app;
  private int asked;

  MemberSamples(HostileTarget world) {
    this.world = world;
    this.bourse = world.bourse();
    this.app = OAuthApplication.registered(bourse);
  }

  void add() {
    bourse
        .operator()
        .post(
            "/api/operator/orgs",
            new JsonObject().put("org_id", "people").put("display", "P").put("kind", "standard"));
    addPages();
    addSignIn();
    addOAuth();
    addTokens();
    addPreflights();
    addTools();
  }

  /** Returns a new member, because each may grant a limited number of permissions. */
  private String member() {
    String username = world.fresh("p");
    bourse
        .operator()
        .post(
            "/api/operator/orgs/people/members",
            new JsonObject()
                .put("username", username)
                .put("email", username + "@people.example")
                .put("name", "P"));
    return username;
  }

  private String cookie() {
    return OAuthApplication.signIn(bourse, "people", member());
  }

  private static AcceptedRequest browser(AcceptedRequest sample, String cookie) {
    return sample.header("Accept", "text/html").header("Cookie", cookie);
  }

  private static String cookies(Browser browser) {
    StringBuilder line = new StringBuilder();
    browser.cookies.forEach(
        (name, value) -> line.append(line.isEmpty() ? "" : "; ").append(name + '=' + value));
    return line.toString();
  }

  private static Map<String, String> map(String... pairs) {
    Map<String, String> all = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      all.put(pairs[i], pairs[i + 1]);
    }
    return all;
  }

  private void addPages() {
    world.add("readStyle", s -> s);
    world.add("readIcon", s -> s);
    world.add("showInstall", s -> s.header("Accept", "text/html"));
    world.add("readInstallFile", s -> s.value("file", "SHA256SUMS"));
    String kept = cookie();
    world.add("showAccount", s -> browser(s, kept));
    world.add("showSignedOut", s -> browser(s, kept));
    for (String leaving : List.of("signOut", "signOutEverywhere")) {
      world.add(
          leaving,
          s -> {
            String cookie = cookie();
            return browser(s, cookie).form(map("csrf", accountCsrf(cookie)));
          });
    }
    world.add(
        "narrowApplication",
        s -> {
          String cookie = cookie();
          app.tokens(cookie);
          HttpResponse<String> account = app.browse("GET", "/account", null, cookie);
          return browser(s, cookie)
              .form(
                  map(
                      "application",
                      Browser.field(account, "application"),
                      "max_lease",
                      "8h",
                      "csrf",
                      OAuthApplication.csrf(account)));
        });
    world.add(
        "disconnectApplication",
        s -> {
          String cookie = cookie();
          app.tokens(cookie);
          HttpResponse<String> account = app.browse("GET", "/account", null, cookie);
          return browser(s, cookie)
              .form(
                  map(
                      "application",
                      Browser.field(account, "application"),
                      "csrf",
                      OAuthApplication.csrf(account)));
        });
  }

  private String accountCsrf(String cookie) {
    return OAuthApplication.csrf(
        OAuthApplication.named(bourse, "bourse-cli").browse("GET", "/account", null, cookie));
  }

  private void addSignIn() {
    world.add("showSignIn", s -> browser(s, "").value("return_to", "/device"));
    world.add("showSignInSent", s -> browser(s, ""));
    world.add(
        "requestSignInLink",
        s -> {
          Browser browser = new Browser(bourse);
          HttpResponse<String> page = browser.get("/sign-in?return_to=%2Fdevice");
          return browser(s, cookies(browser))
              .form(
                  map(
                      "email",
                      "nobody@nowhere.example",
                      "csrf",
                      Browser.field(page, "csrf"),
                      "return_to",
                      "/device"));
        });
    String[] link = {""};
    world.add(
        "showSignInLink",
        s -> {
          if (link[0].isEmpty()) {
            link[0] = new Browser(bourse).askForLink("bob@acme.example", "");
          }
          return browser(s, "").value("token", link[0].replaceAll(".*token=", ""));
        });
    world.add(
        "useSignInLink",
        s -> {
          Browser browser = new Browser(bourse);
          String way = browser.askForLink(member() + "@people.example", "");
          HttpResponse<String> page = browser.get(way);
          return browser(s, cookies(browser))
              .form(
                  map("token", Browser.field(page, "token"), "csrf", Browser.field(page, "csrf")));
        });
    world.add("beginProviderSignIn", s -> browser(s, "").value("return_to", "/device"));
    world.add(
        "endProviderSignIn",
        s -> {
          Browser browser = new Browser(bourse);
          String answer = world.provider().signIn(Browser.location(browser.get("/sign-in/oidc")));
          io.vertx.core.MultiMap query = IdentityProvider.query(answer);
          return browser(s, cookies(browser))
              .value("code", query.get("code"))
              .value("state", query.get("state"));
        });
  }

  private void addOAuth() {
    world.add(
        "showConsent",
        s -> {
          AcceptedRequest sample = browser(s, cookie());
          for (Map.Entry<String, String> field : app.request().entrySet()) {
            sample = sample.value(field.getKey(), field.getValue());
          }
          return sample;
        });
    world.add(
        "decideConsent",
        s -> {
          String cookie = cookie();
          Map<String, String> form = new LinkedHashMap<>(app.request());
          form.put("csrf", OAuthApplication.csrf(app.ask(app.request(), cookie)));
          form.put("decision", "allow");
          return browser(s, cookie).form(form);
        });
    world.add("showDevice", s -> browser(s, cookie()).value("user_code", "BCDF-GHJK"));
    world.add(
        "decideDevice",
        s -> {
          String cookie = cookie();
          JsonObject begun = device();
          HttpResponse<String> page = app.browse("GET", "/device", null, cookie);
          return browser(s, cookie)
              .form(
                  map(
                      "user_code",
                      begun.getString("user_code"),
                      "csrf",
                      OAuthApplication.csrf(page),
                      "decision",
                      "allow"));
        });
    world.add(
        "registerOAuthClient",
        s ->
            s.json(
                new JsonObject()
                    .put("client_name", "H")
                    .put("redirect_uris", new JsonArray().add(OAuthApplication.REDIRECT))
                    .put("grant_types", new JsonArray().add("authorization_code"))
                    .put("response_types", new JsonArray().add("code"))
                    .put("token_endpoint_auth_method", "none")));
  }

  private JsonObject device() {
    return app.post(
            "/oauth/device_authorization",
            Map.of("client_id", "bourse-cli"),
            "X-Forwarded-For",
            "192.0.2." + ++asked % 250)
        .ok();
  }

  private void addTokens() {
    world.add(
        "issueOAuthToken/code",
        "issueOAuthToken",
        s -> s.named("code").form(app.redemption(app.code(app.request(), cookie()))));
    world.add(
        "issueOAuthToken/refresh",
        "issueOAuthToken",
        s -> {
          Map<String, String> form = app.refreshing(app.tokens(cookie()));
          form.put("scope", "capacity:read");
          return s.named("refresh").form(form);
        });
    world.add(
        "issueOAuthToken/device",
        "issueOAuthToken",
        s ->
            s.named("device")
                .form(
                    map(
                        "grant_type",
                        "urn:ietf:params:oauth:grant-type:device_code",
                        "client_id",
                        "bourse-cli",
                        "device_code",
                        device().getString("device_code")))
                .refused());
    world.add(
        "revokeOAuthToken",
        s ->
            s.form(
                map(
                    "token",
                    app.tokens(cookie()).getString("refresh_token"),
                    "token_type_hint",
                    "refresh_token",
                    "client_id",
                    app.clientId())));
    world.add(
        "beginDeviceAuthorization",
        s -> s.form(map("client_id", "bourse-cli", "scope", "capacity:read")));
  }

  private void addPreflights() {
    for (String id :
        List.of(
            "readAuthorizationServer",
            "preflightAuthorizationServer",
            "readProtectedResource",
            "preflightProtectedResource",
            "readProtectedMcpResource",
            "preflightProtectedMcpResource",
            "readSigningKeys",
            "preflightSigningKeys",
            "preflightOAuthToken",
            "preflightOAuthRevocation",
            "preflightOAuthClient")) {
      world.add(id, s -> s);
    }
  }

  private String access() {
    return McpClient.token(bourse, "acme", "alice", EnumSet.allOf(Scope.class));
  }

  private AcceptedRequest model(AcceptedRequest sample, String method) {
    return HostileTarget.bearing(sample, access())
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", McpClient.STATELESS)
        .header("Mcp-Method", method);
  }

  private static JsonObject message(String method, JsonObject params) {
    return McpClient.request(method, params.put("_meta", McpClient.meta()));
  }

  private String session() {
    ApiClient caller = bourse.with(access());
    JsonObject hello =
        new JsonObject()
            .put("protocolVersion", "2025-11-25")
            .put("capabilities", new JsonObject())
            .put("clientInfo", new JsonObject().put("name", "t").put("version", "1"));
    return new McpClient(caller)
        .post(McpClient.request("initialize", hello))
        .header("mcp-session-id");
  }

  private static JsonObject bid(int gpus) {
    return McpClient.bid("acme-batch", gpus, 3);
  }

  private void addTools() {
    McpClient alice = McpClient.of(bourse, "acme", "alice");
    Map<String, JsonObject> arguments = new TreeMap<>();
    arguments.put("whoami", new JsonObject());
    arguments.put("capacity_read", new JsonObject().put("cluster", "acme-train"));
    arguments.put("bid_write", bid(8));
    arguments.put("market_read", new JsonObject());
    arguments.put("billing_read", new JsonObject());
    arguments.put("checkpoint_read", new JsonObject());
    arguments.put("checkpoint_write", new JsonObject());
    arguments.put("grid_api", McpClient.read("/api/whoami"));
    for (JsonObject tool : ClusterClient.objects(alice.tools())) {
      String name = tool.getString("name");
      JsonObject given = arguments.getOrDefault(name, new JsonObject());
      world.add(
          "sendMcpMessage/" + name,
          "sendMcpMessage",
          s ->
              model(s.named(name), "tools/call")
                  .header("Mcp-Name", name)
                  .json(
                      message(
                          "tools/call",
                          new JsonObject().put("name", name).put("arguments", given.copy())))
                  .within("/params/arguments", tool.getJsonObject("inputSchema")));
    }
    for (String method :
        List.of("tools/list", "server/discover", "resources/list", "prompts/list")) {
      world.add(
          "sendMcpMessage/" + method,
          "sendMcpMessage",
          s -> model(s.named(method), method).json(message(method, new JsonObject())));
    }
    world.add(
        "sendMcpMessage/session",
        "sendMcpMessage",
        s ->
            HostileTarget.bearing(s.named("session"), access())
                .header("Accept", "application/json, text/event-stream")
                .header("MCP-Protocol-Version", "2025-11-25")
                .header("Mcp-Session-Id", session())
                .json(McpClient.request("ping", new JsonObject())));
    world.add(
        "endMcpSession",
        s ->
            HostileTarget.bearing(s, access())
                .header("MCP-Protocol-Version", "2025-11-25")
                .header("Mcp-Session-Id", session()));
  }
}
