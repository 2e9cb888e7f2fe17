package dev.bourse.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A proxy that passes a request on and, the first time of its kind, loses the answer to it. */
public final class AnswerLosingProxy implements AutoCloseable {
  private final ServerSocket listening;
  private final URI service;
  private final String begins;
  private final String ends;
  private final AtomicInteger lost = new AtomicInteger();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  /**
   * @param service its address
   * @param method such as {@code PUT}
   */
  public AnswerLosingProxy(String service, String method) {
    this(service, method, "");
  }

  /**
   * @param service its address
   * @param method such as {@code PUT}
   * @param ending of the path that is meant
   */
  public AnswerLosingProxy(String service, String method, String ending) {
    this.service = URI.create(service);
    this.begins = method + ' ';
    this.ends = ending + " HTTP/1.1";
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(this::accept);
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "answer-losing");
    thread.setDaemon(true);
    thread.start();
  }

  public String url() {
    return "http://localhost:" + listening.getLocalPort();
  }

  /** How many answers were lost. */
  public int lost() {
    return lost.get();
  }

  /** Cuts every connection there is. */
  public void cut() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Socket server = new Socket(service.getHost(), service.getPort());
        sockets.add(client);
        sockets.add(server);
        start(() -> pass(client, server));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void pass(Socket client, Socket server) {
    byte[] bytes = new byte[65_536];
    AtomicBoolean isLost = new AtomicBoolean();
    start(() -> copy(server, client, isLost));
    try (client;
        server) {
      InputStream from = client.getInputStream();
      OutputStream to = server.getOutputStream();
      int read;
      while ((read = from.read(bytes)) > 0) {
        String line = new String(bytes, 0, read, StandardCharsets.ISO_8859_1).split("\r\n", 2)[0];
        boolean isMeant = line.startsWith(begins) && line.endsWith(ends);
        if (isMeant && lost.compareAndSet(0, 1)) {
          // Lost when it comes: a client that is cut off before may not have sent the whole
          // request.
          isLost.set(true);
        }
        to.write(bytes, 0, read);
      }
    } catch (IOException e) {
      return;
    }
  }

  private static void copy(Socket server, Socket client, AtomicBoolean isLost) {
    byte[] bytes = new byte[65_536];
    try {
      int read;
      while ((read = server.getInputStream().read(bytes)) > 0 && !isLost.get()) {
        client.getOutputStream().write(bytes, 0, read);
      }
      client.close();
    } catch (IOException e) {
      return;
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    cut();
  }
}
