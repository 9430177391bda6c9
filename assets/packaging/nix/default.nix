# A Nix package of this folder: nix-build assets/packaging/nix
{ pkgs ? import <nixpkgs> { } }:

pkgs.rustPlatform.buildRustPackage {
  pname = "labscope";
  version = (builtins.fromTOML (builtins.readFile ../../../Cargo.toml)).package.version;
  src = pkgs.lib.cleanSource ../../..;
  cargoLock.lockFile = ../../../Cargo.lock;
  nativeBuildInputs = [ pkgs.pkg-config pkgs.installShellFiles ];
  # The tests need a terminal and a network interface.
  doCheck = false;
  postInstall = ''
    $out/bin/labscope man > labscope.1
    installManPage labscope.1
    for shell in bash zsh fish; do
      $out/bin/labscope completions $shell > labscope.$shell
    done
    installShellCompletion --cmd labscope --bash labscope.bash --zsh labscope.zsh --fish labscope.fish
  '';
  meta = {
    description = "Terminal client for GitLab-compatible servers: browse, review, watch";
    license = pkgs.lib.licenses.mit;
    mainProgram = "labscope";
  };
}
