defmodule DynoBandit.Router do
  @moduledoc "What is asked, and what is answered."
  use Plug.Router

  plug :match
  plug :dispatch

  get "/" do
    case fetch_query_params(conn).query_params do
      %{"value" => value} -> xml(conn, ["<http_test><value>", value, "</value></http_test>"])
      none when none == %{} -> send_resp(conn, 200, "")
      _other -> xml(conn, "<http_test><error>no value specified</error></http_test>")
    end
  end

  get "/hello", do: plain(conn, "Hello, world!")

  get "/user/:id", do: plain(conn, id)

  post "/user" do
    {:ok, body, conn} = read_body(conn)
    plain(conn, body)
  end

  get "/poll/:seconds" do
    conn
    |> put_resp_content_type("text/plain")
    |> send_chunked(200)
    |> poll(:timer.seconds(String.to_integer(seconds)))
  end

  get "/wspoll/:seconds" do
    conn
    |> WebSockAdapter.upgrade(DynoBandit.Ticker, :timer.seconds(String.to_integer(seconds)), timeout: :infinity)
    |> halt()
  end

  get "/wsecho" do
    conn
    |> WebSockAdapter.upgrade(DynoBandit.Echo, nil, [])
    |> halt()
  end

  match _, do: send_resp(conn, 404, "")

  defp plain(conn, body), do: conn |> put_resp_content_type("text/plain") |> send_resp(200, body)

  defp xml(conn, body), do: conn |> put_resp_content_type("text/xml") |> send_resp(200, body)

  defp poll(conn, ms) do
    case chunk(conn, "tick\n") do
      {:ok, conn} ->
        Process.sleep(ms)
        poll(conn, ms)

      {:error, _closed} ->
        conn
    end
  end
end
