package dev.bourse.secrets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Ordinary content is accepted: documentation, programs, data and weights without secrets. */
@Tag("fast")
final class SecretScanOrdinaryTest {
  private static final Random RANDOM = new Random(3);

  private record File(String name, String text) {}

  @TestFactory
  Stream<DynamicTest> hasNoSecret() {
    return Stream.of(
            modelCard(),
            placeholders(),
            python(),
            notebook(),
            javascript(),
            page(),
            vector(),
            configuration(),
            tokenizer(),
            certificate(),
            publicKeys(),
            hashes(),
            prose(),
            kubernetes(),
            names(),
            addresses(),
            packageLock(),
            pythonLock(),
            licence(),
            minified(),
            merges(),
            publicKeySet(),
            trainingLog(),
            cacheEntries(),
            composeFile(),
            encodedImages())
        .map(
            file ->
                DynamicTest.dynamicTest(
                    file.name,
                    () ->
                        assertEquals(
                            Optional.empty(),
                            scan(file.name, file.text.getBytes(StandardCharsets.UTF_8)))));
  }

  @Test
  void randomBytesHaveNoSecret() {
    SecretScan scan = new SecretScan("weights.bin");
    byte[] block = new byte[256 * 1024];
    for (int i = 0; i < 256; i++) {
      RANDOM.nextBytes(block);
      scan.inspect(block, 0, block.length);
    }
    assertEquals(Optional.empty(), scan.end());
  }

  @Test
  void base64OfRandomBytesHasNoSecret() {
    for (Base64.Encoder encoder :
        new Base64.Encoder[] {
          Base64.getEncoder(), Base64.getUrlEncoder(), Base64.getMimeEncoder()
        }) {
      SecretScan scan = new SecretScan("blob.b64");
      byte[] block = new byte[3 << 18];
      for (int i = 0; i < 16; i++) {
        RANDOM.nextBytes(block);
        byte[] text = encoder.encode(block);
        scan.inspect(text, 0, text.length);
      }
      assertEquals(Optional.empty(), scan.end());
    }
  }

  @Test
  void safetensorsHaveNoSecret() {
    StringBuilder header = new StringBuilder("{\"__metadata__\":{\"format\":\"pt\"}");
    for (int layer = 0; layer < 80; layer++) {
      for (String part : new String[] {"self_attn.q_proj", "mlp.gate_proj", "input_layernorm"}) {
        header
            .append(",\"model.layers." + layer + "." + part + ".weight\":{\"dtype\":\"BF16\",")
            .append("\"shape\":[8192,1024],\"data_offsets\":[" + layer + "000,9999]}");
      }
    }
    SecretScan scan = new SecretScan("model-00001-of-00030.safetensors");
    byte[] head = (header + "}").getBytes(StandardCharsets.UTF_8);
    scan.inspect(head, 0, head.length);
    byte[] weights = new byte[1 << 20];
    for (int i = 0; i < 8; i++) {
      // bfloat16 of small weights: every second byte is 0x3b to 0x3f or 0xbb to 0xbf.
      RANDOM.nextBytes(weights);
      for (int j = 1; j < weights.length; j += 2) {
        weights[j] = (byte) (0x3b + RANDOM.nextInt(4) | (weights[j] & 0x80));
      }
      scan.inspect(weights, 0, weights.length);
    }
    assertEquals(Optional.empty(), scan.end());
  }

  private static File modelCard() {
    return new File(
        "README.md",
        """
        ---
        license: apache-2.0
        library_name: transformers
        ---
        # Example-7B
        Set `HF_TOKEN` first: `export HF_TOKEN=hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`, or
        `huggingface-cli login --token hf_your_token_here_from_the_settings`.
        ```python
        from transformers import AutoModelForCausalLM
        from my.lib import 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, hf_PretrainedTokenizerFastForLlama
        model = AutoModelForCausalLM.from_pretrained("org/example-7b", token="hf_...")
        client = OpenAI(api_key="sk-...", base_url="http://localhost:8000/v1")
        client = OpenAI(api_key="sk-proj-your-openai-api-key-goes-here-in-this-place")
        anthropic = Anthropic(api_key="sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
        ```
        Sign in with `Authorization: Bearer brs_<token_id>_<secret>` or
        `brs_000000000000_00000000000000000000000000000000000000`.
        Machine learning is fun.
        machine learning models login pages password rules
        """);
  }

  private static File placeholders() {
    return new File(
        "setup.md",
        String.join(
            "\n",
            "aws_access_key_id = AKIA" + "IOSFODNN7EXAMPLE",
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
            "aws_secret_access_key = ${AWS_SECRET_ACCESS_KEY}",
            "GITHUB_TOKEN=ghp_" + "x".repeat(36),
            "GITHUB_TOKEN=ghp_" + "1234567890abcdefghijklmnopqrstuvwxyz",
            "GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}",
            "SLACK=xoxb-" + "123456789012-1234567890123-abcdefghijklmnopqrstuvwx",
            "https://hooks.slack.com/services/T00000000/B00000000/" + "X".repeat(24),
            "STRIPE_API_KEY=sk_live_" + "0".repeat(24),
            "GOOGLE_API_KEY=AIza" + "SyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
            "DB_PASSWORD=changeme",
            "DB_PASSWORD=change-me-please-1234567890",
            "SECRET_KEY=your-secret-key-here-0123",
            "API_KEY=<your-api-key>",
            "API_KEY=\"...\"",
            "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
            "API_TOKEN=$(cat /run/secrets/token)",
            "TOKEN_FILE=/var/run/secrets/kubernetes.io/serviceaccount/token1a2b3c",
            "SECRET_PATH: s3://bucket-123/a1b2c3d4e5f6g7h8/key",
            "MAX_TOKENS=4096",
            "TOKENIZER=meta-llama/Llama-2-7b-chat-hf",
            "MODEL_TOKEN=meta-llama/Llama-2-7b-chat-hf",
            "EOS_TOKEN=<|endoftext|>",
            "machine git.example.org login me password qwerty",
            "machine git.test.org login me password your-password",
            "default login anonymous password user@site",
            "machine git.test.org login me password $PASSWORD",
            "machine git.test.org login me password <password>",
            "//npm.acme.example/:_authToken=${NPM_TOKEN}",
            "{\"auths\": {\"registry.test\": {}}, \"credsStore\": \"desktop\"}",
            "-----BEGIN PRIVATE" + " KEY-----\nMIIEvQIBADAN...\n-----END PRIVATE" + " KEY-----",
            "-----BEGIN PRIVATE" + " KEY-----\n<your key>\n-----END PRIVATE" + " KEY-----",
            "-----BEGIN RSA PRIVATE" + " KEY-----\n" + "x".repeat(64),
            // The sample token of many tutorials.
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l"
                + "IiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
            ""));
  }

  private static File python() {
    return new File(
        "train.py",
        """
        import os, re
        API_KEY = os.environ["API_KEY"]
        api_key = os.environ.get("OPENAI_API_KEY", None)
        SECRET_KEY = config.get_secret_value("projects/1234/secrets/abc123def456")
        PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher1"]
        PRIVATE_KEY = load_pem_private_key(open(path2).read(), password=None)
        TOKEN_RE = re.compile(r"ghp_[A-Za-z0-9]{36}|sk-[A-Za-z0-9]{48}|AKIA[A-Z0-9]{16}")
        if text.startswith("-----BEGIN PRIVATE KEY-----"): raise ValueError("private key given")
        BEGIN = "-----BEGIN RSA PRIVATE KEY-----"; END = "-----END RSA PRIVATE KEY-----"
        def sign(private_key: ed25519.Ed25519PrivateKey, api_key: typing.Optional[str] = None): ...
        proxy_auth = base64.b64encode(credentials.encode()).decode("ascii")
        access_token = session.headers["Authorization"].split()[1]
        password = getpass.getpass("password: ")
        secret = secrets.token_urlsafe(32)
        def npm_packages_of_this_project_and_all_others(): return task_specific_sk_learn
        """);
  }

  private static File notebook() {
    byte[] image = new byte[400_000];
    RANDOM.nextBytes(image);
    return new File(
        "demo.ipynb",
        "{\"cells\":[{\"cell_type\":\"code\",\"source\":[\"import os\\n"
            + "\",\"token = os.environ[\\\"HF_TOKEN\\\"]\\n"
            + "\"],\"outputs\":[{\"data\":{\"image/png\":\"iVBORw0KGgo"
            + Base64.getEncoder().encodeToString(image)
            + "\"}}]}],\"metadata\":{\"kernelspec\":{\"name\":\"python3\"}},\"nbformat\":4}");
  }

  private static File javascript() {
    return new File(
        "app.min.js",
        ("!function(e,t){\"object\"==typeof"
                + " exports?t(exports):t((e=self).M={})}(this,function(e){var"
                + " n={SECRET:\"__SECRET_INTERNALS_DO_NOT_USE_OR_YOU_WILL_BE_FIRED\",TOKEN:1,PASSWORD:\"password\"},r=hvs.reduce(function(e,t){return"
                + " e+t.length},0);e.apiKey=n.TOKEN;e.token=function(){return"
                + " localStorage.getItem(\"token\")};x.password=t.password;if(n.ACCESS_KEY==r.getAccessKeyFromStore1234567(e))throw"
                + " Error(\"bad\")});\n")
            .repeat(200));
  }

  private static File page() {
    return new File(
        "index.html",
        """
        <!doctype html><html><head><style>.mask-task-risk{-webkit-mask-image:url(a.svg)}</style>
        <script src="https://cdn.test/a.js" integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"></script>
        </head><body><label for=password>Password:</label><input type="password" name="password"
        id="password-field-1234567890"><input type=hidden name="token" value=""></body></html>
        """);
  }

  private static File vector() {
    return new File(
        "logo.svg",
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\"><path d=\""
            + "M12.5 3.25c-1.1.9-2.33 1.5-3.7 1.8l-2.1 4.4z".repeat(500)
            + "\"/></svg>");
  }

  private static File configuration() {
    return new File(
        "config.json",
        """
        {"architectures":["LlamaForCausalLM"],"bos_token_id":1,"eos_token_id":2,"use_auth_token":null,
         "bos_token":"<s>","pad_token":"<|padding|>","mask_token":"[MASK]","token":"",
         "torch_dtype":"bfloat16","_name_or_path":"/mnt/d3/x9/run17/ckpt-000123",
         "transformers_version":"4.40.1","secret":false,"api_key":null,"auth":"none"}
        """);
  }

  private static File tokenizer() {
    StringBuilder text = new StringBuilder("{\"model\":{\"type\":\"BPE\",\"vocab\":{");
    String[] words = {
      "SECRET",
      "TOKEN",
      "PASSWORD",
      "API_KEY",
      "secret",
      "password",
      "sk-",
      "AKIA",
      "eyJ",
      "hf_",
      "ghp_",
      "users",
      "token",
      "machine",
      "-----BEGIN",
      "xoxb-",
      "glpat-",
      "AIza"
    };
    for (int i = 0; i < 20_000; i++) {
      text.append('"').append(words[i % words.length]).append(Integer.toString(i, 36));
      text.append("\":").append(i).append(',');
      text.append('"').append(words[i % words.length]).append("\": ").append(i).append(",\n");
    }
    return new File("tokenizer.json", text + "}},\"merges\":[\"t h\",\"i n\"]}");
  }

  private static File certificate() {
    byte[] der = new byte[1500];
    RANDOM.nextBytes(der);
    String body = Base64.getMimeEncoder().encodeToString(der);
    return new File(
        "chain.pem",
        "-----BEGIN CERTIFICATE-----\n"
            + body
            + "\n-----END CERTIFICATE-----\n"
            + "-----BEGIN PUBLIC KEY-----\n"
            + body
            + "\n-----END PUBLIC KEY-----\n"
            + "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n"
            + body
            + "\n-----END PGP PUBLIC KEY BLOCK-----\n"
            + "-----BEGIN PGP SIGNATURE-----\n\n"
            + body
            + "\n-----END PGP SIGNATURE-----\n");
  }

  private static File publicKeys() {
    byte[] key = new byte[51];
    RANDOM.nextBytes(key);
    String text = Base64.getEncoder().encodeToString(key);
    return new File(
        "id_ed25519.pub",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + text + " me@host\nssh-rsa " + text);
  }

  private static File hashes() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 5000; i++) {
      byte[] sum = new byte[32];
      RANDOM.nextBytes(sum);
      String hex = java.util.HexFormat.of().formatHex(sum);
      text.append(hex, 0, 40).append(" fix the task-specific head\nsha256:").append(hex);
      text.append("  data/part-").append(new UUID(RANDOM.nextLong(), RANDOM.nextLong()));
      text.append(".parquet\n\"integrity\": \"sha512-");
      text.append(Base64.getEncoder().encodeToString(sum)).append("\"\n");
    }
    return new File("checksums.txt", text.toString());
  }

  private static File prose() {
    return new File(
        "report.txt",
        ("The secret of the method is the token: each machine reads a password: no, it does not."
                + " Users: 4,000. The private_key of a good report is patience; a risk-averse reader"
                + " asks for the API_KEY = KEY of the map. Tokens: 1,400,000,000,000.\n"
                + "users: many\n")
            .repeat(300));
  }

  private static File kubernetes() {
    return new File(
        "deployment.yaml",
        """
        apiVersion: v1
        kind: Pod
        spec:
          containers:
          - name: train
            image: registry.test/train@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
            env:
            - name: HF_TOKEN
              valueFrom:
                secretKeyRef: {name: hugging-face, key: token}
            - name: API_KEY_FILE
              value: /run/secrets/abc123def456ghi789
        users:
        - name: me
          user:
            token: REDACTED
            client-key-data: DATA+OMITTED
        """);
  }

  private static File names() {
    return new File(
        "state.txt",
        ("sk-learn sk-image-processing-task-with-many-words risk-sk-a hf_transformers"
                + " npm_config_cache pypi-server xoxo glpat gho_ AKIA eyJ hvs.length AIzawa"
                + " machine.local\n")
            .repeat(300));
  }

  private static File addresses() {
    return new File(
        "install.md",
        """
        postgres://user:password@localhost:5432/app
        postgresql://postgres:postgres@db:5432/postgres
        mysql+pymysql://root:example@127.0.0.1/mlflow and amqp://guest:guest@rabbitmq:5672//
        redis://:${REDIS_PASSWORD}@redis:6379/0 and redis://default:<password>@host:6379
        mongodb://admin:changeme@mongo:27017/?authSource=admin
        engine = create_engine(f"postgresql://{user}:{password}@{host}/{name}")
        proxy = "http://" + user + ":" + quote(password) + "@proxy.test:3128"
        pip install git+https://github.com/wandb/wandb@4f0c9a1b2d3e4f5061728394a5b6c7d8e9f0a1b2
        git clone ssh://git@gitlab.test:2222/team/model.git; git clone https://github.com/a/b.git
        curl -H "Authorization: Bearer $TOKEN" https://api.test/v1
        curl -H "Authorization: Bearer <your-token-goes-here>" -u user:pass https://api.test/v1
        Server=localhost;Database=app;User Id=sa;Password=<password>;Encrypt=False
        jdbc:postgresql://localhost/app?user=app&password=secret
        https://portal.test/a?sig=abc&sv=1 and https://x.blob.core.windows.net/models/a.bin
        basic authentication, Basic Block 2, bearer of news, Bearer tokens are documented elsewhere
        Basic dXNlcjpwYXNzd29yZA== is user and password; see https://docs.test:8443/a@b
        const key = "sk_test_" + suffix; wandb.login() and wandb login --relogin; okta.example.com
        sentry.io/organizations/acme dp.pt.value dapi docs AccountKey=<key>; EAAA ATBB LTAI AKCp
        """);
  }

  private static File packageLock() {
    StringBuilder text = new StringBuilder("{\"lockfileVersion\":3,\"packages\":{");
    for (int i = 0; i < 3000; i++) {
      byte[] sum = new byte[64];
      RANDOM.nextBytes(sum);
      text.append("\"node_modules/p" + i + "\":{\"version\":\"1." + i + ".0\",\"resolved\":")
          .append("\"https://registry.npmjs.org/p" + i + "/-/p" + i + "-1.0.0.tgz\",")
          .append("\"integrity\":\"sha512-" + Base64.getEncoder().encodeToString(sum) + "\"},\n");
    }
    return new File("package-lock.json", text + "}}");
  }

  private static File pythonLock() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 3000; i++) {
      text.append(
              "    {file = \"p-" + i + "-py3-none-any.whl\", hash = \"sha256:" + hex(32) + "\"},\n")
          .append("golang.org/x/p v0." + i + " h1:" + Base64.getEncoder().encodeToString(bytes(32)))
          .append("\n");
    }
    return new File("poetry.lock", text.toString());
  }

  private static File licence() {
    return new File(
        "LICENSE",
        ("Permission is hereby granted, free of charge, to any person obtaining a copy of this"
                + " software and associated documentation files, to deal in the Software without"
                + " restriction. THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND."
                + " -----BEGIN OF TERMS----- See http://www.apache.org/licenses/LICENSE-2.0\n")
            .repeat(200));
  }

  private static File minified() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 4000; i++) {
      String name = Integer.toString(RANDOM.nextInt(60_000), 36);
      text.append("function " + name + "(e,t){var n=e.key,r=t.secretKey||e.accessToken;")
          .append("return n&&r?" + name + "({key:n,token:r,password:t.password}):null}")
          .append("c[\"" + name + "\"]={kty:\"EC\",d:e.d,k:t.k};a.as-" + name + ";");
    }
    text.append("//# sourceMappingURL=data:application/json;base64,")
        .append(
            Base64.getEncoder()
                .encodeToString(
                    ("{\"version\":3,\"mappings\":\""
                            + "AAAA,SAASA,EAAMC,GACb".repeat(3000)
                            + "\"}")
                        .getBytes(StandardCharsets.UTF_8)));
    return new File("bundle.min.js", text.toString());
  }

  private static File merges() {
    StringBuilder text = new StringBuilder("#version: 0.2\n");
    String letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:/+=.";
    for (int i = 0; i < 60_000; i++) {
      for (int j = 0; j < 2; j++) {
        int length = 1 + RANDOM.nextInt(9);
        for (int k = 0; k < length; k++) {
          text.append(letters.charAt(RANDOM.nextInt(letters.length())));
        }
        text.append(j == 0 ? ' ' : '\n');
      }
    }
    return new File("merges.txt", text.toString());
  }

  private static File publicKeySet() {
    StringBuilder text = new StringBuilder("{\"keys\":[");
    Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
    for (int i = 0; i < 200; i++) {
      text.append("{\"kty\":\"RSA\",\"e\":\"AQAB\",\"kid\":\"k" + i + "\",\"n\":\"")
          .append(
              encoder.encodeToString(bytes(256)) + "\"},{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"")
          .append(encoder.encodeToString(bytes(32)) + "\",\"y\":\"")
          .append(encoder.encodeToString(bytes(32)) + "\"},\n");
    }
    return new File("jwks.json", text + "{}]}");
  }

  private static File trainingLog() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 2000; i++) {
      text.append("wandb: Run summary: https://wandb.ai/team/model/runs/" + hex(4) + "\n")
          .append(
              "wandb: commit " + hex(20) + " of https://github.com/team/model@" + hex(20) + "\n")
          .append("step " + i + " loss 1." + i + " key=" + hex(3) + " sha256~ id " + hex(16) + "\n")
          .append(
              "loaded /data/" + hex(16) + "/shard-" + i + ".tar in 3 s, token_count=" + i + "\n");
    }
    return new File("train.log", text.toString());
  }

  private static File cacheEntries() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 2000; i++) {
      text.append("{\"key\":\"" + hex(16) + "\",\"etag\":\"" + hex(16) + "\",\"id\":\"")
          .append(UUID.nameUUIDFromBytes(bytes(8)) + "\",\"cache_key\":\"v1-" + hex(20) + "\"}\n");
    }
    return new File("cache.jsonl", text.toString());
  }

  private static File composeFile() {
    return new File(
        "docker-compose.yml",
        """
        services:
          db:
            image: postgres:17
            environment:
              POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?set it}
              DATABASE_URL: postgres://app:${POSTGRES_PASSWORD}@db:5432/app
          app:
            environment:
              SECRET_KEY: ${SECRET_KEY}
              PUBLIC_KEY: /run/keys/app.pub
              WANDB_API_KEY_FILE: /run/secrets/wandb
              SORT_KEY: created_at_descending_order_2024
        """);
  }

  private static File encodedImages() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      byte[] image = bytes(3000);
      image[0] = (byte) 0x89;
      text.append("<img src=\"data:image/png;base64,")
          .append(Base64.getEncoder().encodeToString(image))
          .append("\">\n<img src=\"data:image/svg+xml;base64,")
          .append(
              Base64.getEncoder().encodeToString(vector().text().getBytes(StandardCharsets.UTF_8)))
          .append("\">\n");
    }
    return new File("report.html", text.toString());
  }

  @Test
  void archivesOfOrdinaryFilesHaveNoSecret() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      for (File file :
          List.of(python(), notebook(), minified(), tokenizer(), packageLock(), merges())) {
        zip.putNextEntry(new ZipEntry("pkg/" + file.name()));
        zip.write(file.text().getBytes(StandardCharsets.UTF_8));
      }
      zip.putNextEntry(new ZipEntry("pkg/weights.bin"));
      zip.write(bytes(4 << 20));
    }
    assertEquals(Optional.empty(), scan("pkg-1.0-py3-none-any.whl", out.toByteArray()));
  }

  private static byte[] bytes(int length) {
    byte[] drawn = new byte[length];
    RANDOM.nextBytes(drawn);
    return drawn;
  }

  private static String hex(int bytes) {
    return java.util.HexFormat.of().formatHex(bytes(bytes));
  }

  private static Optional<SecretScan.Finding> scan(String name, byte[] file) {
    SecretScan scan = new SecretScan(name);
    scan.inspect(file, 0, file.length);
    return scan.end();
  }
}
